/** Arrays whose length stands beside them, in a field or in a product of fields. */
typedef struct {
  /** The ids. */
  int32_t* ids;
  /** How many. */
  size_t n_ids;
  /** rows * columns values. */
  float* values;
  /** Rows. */
  int rows;
  /** Columns. */
  int columns;
} Table;

/** Takes one. */
int put(const Table* table);
