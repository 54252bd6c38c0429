/** What is in it. */
typedef enum {
  /** A number. */
  kPlain = 0,
  /** Text. */
  kSpoken = 1,
  /** Several numbers. */
  kSeveral = 2
} Form;

/** One of three, and behind them which. */
typedef struct {
  union {
    /** The text. */
    const char* spoken;
    /** The number. */
    int64_t plain;
    /** The numbers. */
    const float* several;
  };
  /** How many numbers there are. */
  int n_several;
  /** Which. */
  Form form;
} Any;

/** The same inside of something. */
typedef struct {
  /** It. */
  struct {
    union {
      /** The text. */
      const char* said;
      /** The number. */
      int64_t bare;
    };
    /** Which. */
    Form form;
  } held;
} Box;

/** Takes one. */
int put_any(const Any* any);
/** Takes one in a box. */
int put_box(const Box* box);
/** Leaves one. */
int get_any(Any* any);
