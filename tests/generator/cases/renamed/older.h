/** A place on a plane, under the name that it had first. */
typedef struct {
  /** To the right. */
  int x;
} Spot;

/** Goes there. */
int go(const Spot* to);
