/** A shape. */
typedef struct {
  /** What it is called. */
  char name[8];
  /** How many dimensions it has. */
  uint32_t n_dims;
  /** How long each of them is. */
  uint32_t dims[4];
  /** Where it stands. */
  float matrix[2][3];
  /** Its colour. */
  uint8_t colour[3];
  /** Raw bytes. */
  char raw[2];
} Shape;

/** Places a shape. */
int place(const Shape* shape);
/** Tells where a shape stands. */
int where(int number, Shape* shape);
