/** What is in it. */
typedef enum {
  /** Text. */
  kText = 0,
  /** A number. */
  kNumber = 5
} Kind;

/** One or the other. */
typedef struct {
  /** Which. */
  Kind kind;
  union {
    /** The text. */
    const char* text;
    /** The number. */
    int64_t number;
  };
} Either;

/** Takes one. */
int put(Either* either);
