/** A picture among other things. */
typedef struct {
  /** A title. */
  const char* title;
  /** The points of the picture. */
  float* points;
  /** How many points. */
  int n_points;
  /** How many of them are in a row. */
  int width;
  /** Something else. */
  int rest;
} Page;

/** Prints a page. */
int print(Page* page);
