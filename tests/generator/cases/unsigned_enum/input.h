/** Flags of which one has the highest bit: the enum is unsigned. */
typedef enum {
  /** Nothing. */
  kPlain = 0,
  /** The highest bit. */
  kHigh = 0x80000000,
  /** Every bit. */
  kAll = 0xFFFFFFFF
} Flags;

/** One negative and one that needs 32 bits: the enum has 64. */
typedef enum {
  /** Below all. */
  kLeast = -9223372036854775807 - 1,
  /** Unknown. */
  kUnknown = -1,
  /** As many as can be. */
  kMost = 0xFFFFFFFF
} Count;

/** Both. */
typedef struct {
  /** How. */
  Flags flags;
  /** How many. */
  Count count;
} Order;

/** Takes an order. */
int order(Order* order);
/** Tells what was ordered. */
Order last(void);
