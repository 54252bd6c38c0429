/** A point. */
typedef struct {
  /** Across. */
  int x;
  /** Up. */
  int y;
} Point;

/** A line of points. */
typedef struct {
  /** Them. */
  const Point* points;
  /** How many. */
  uint32_t n_points;
  /** Where it bends. */
  Point bends[2];
  /** How often. */
  int n_bends;
} Line;

/** Draws a line, and tells how many points were drawn. */
int draw(const Line* line);
/** Draws points.
 * @param points Them.
 * @param n How many. */
int dot(const Point* points, size_t n);
/** Gives names.
 * @param names Them.
 * @param n How many. */
int name_all(const char** names, int n);
/** Takes bytes.
 * @param data Them.
 * @param size How many. */
int feed(const void* data, uint32_t size);
