/** How to do it. */
typedef struct {
  /** How fast; must not be 0. */
  int speed;
  /** How often. */
  int times;
} How;

/** Does it. */
int act(const How* how);
/** Says it. */
int say(const char* text);
