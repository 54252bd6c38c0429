/** What a lamp does. */
typedef enum {
  /** It is dark. */
  kDark,
  /** It shines. */
  kBright,
  /** An older name. */
  kShining __attribute__((deprecated("say kBright"))) = 1,
} LampState;

/** A lamp. */
typedef struct {
  /** What it does. */
  LampState state;
  /** How long it has shone.
   * @deprecated nobody counts any more */
  int hours;
} Lamp;

/** What the lamp does. */
LampState state_of(int lamp);
/** All about the lamp. */
Lamp lamp_of(int lamp);
/** Has it do something. */
[[deprecated]] int set_state(LampState state, Lamp lamp);
/** What can go wrong. */
typedef enum { kFine, kBroken } Outcome;
/** Takes its bulb out. */
Outcome unscrew(int lamp);
