/** The inner one. */
typedef struct {
  /** A default that is not zero. */
  float scale;
  /** Not for clients. */
  uint8_t reserved[8];
} Inner;

/** The outer one. */
typedef struct {
  /** By value. */
  Inner inner;
  /** By pointer. */
  Inner* other;
  /** In place. */
  struct {
    /** Its sign. */
    const char* label;
    /** More. */
    size_t more;
  } place;
} Outer;

/** Gives one. */
Outer get(void);
/** Takes one. */
int put(Outer* outer);
