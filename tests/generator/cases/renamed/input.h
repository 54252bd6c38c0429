/** A place on a plane. */
typedef struct {
  /** To the right. */
  int x;
  /** Up. */
  int y;
} Point;

/** Goes there. */
int go(const Point* to);
