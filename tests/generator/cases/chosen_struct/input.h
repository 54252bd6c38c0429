/** What to ask for. */
typedef enum { ASK_COUNT = 0, ASK_TENSOR = 1, ASK_OTHER = 2 } Ask;

/** How many there are. */
typedef struct {
  /** Of those that go in. */
  uint32_t n_input;
  /** Of those that come out. */
  uint32_t n_output;
} Counts;

/** What one of them is like. */
typedef struct {
  /** Which one: given by whoever asks. */
  uint32_t index;
  /** What it is called. */
  char name[16];
} Tensor;

/** Asks for something.
 * @param what What.
 * @param info The answer. */
int query(Ask what, void* info, uint32_t size);
