#include <stdbool.h>
#include <stdint.h>

/** A network that is loaded. */
typedef uint64_t network;

/** One of the outputs of a network. */
typedef struct {
  /** Which one. */
  uint32_t index;
  /** Whether it is wanted as floats. */
  bool wants_floats;
  /** Where it lies, until it is released. */
  void* buffer;
  /** Of that, in bytes. */
  uint32_t size;
} output;

/** A rectangle. */
typedef struct {
  /** From the left. */
  int32_t x;
  /** How wide. */
  int32_t width;
} box;

/** Loads a network.
 * @param net It. */
int load(network* net);
/** The outputs of the last run.
 * @param net The network.
 * @param n How many.
 * @param outputs Which, and how; then what they are. */
int outputs_get(network net, uint32_t n, output outputs[]);
/** Gives back what outputs_get() has given.
 * @param net The network.
 * @param n_of_them How many.
 * @param which Them. */
int outputs_release(network net, uint32_t n_of_them, output which[]);
/** Makes a rectangle fit.
 * @param area The rectangle.
 * @param around What it has to fit into. */
int fit(box* area, box* around);
/** Puts numbers in order.
 * @param values The numbers.
 * @param n How many.
 * @param keeps Whether each stays where it is. */
int sort(int32_t* values, uint32_t n, const bool* keeps);
/** Turns bytes around.
 * @param bytes The bytes.
 * @param n How many. */
int reverse(void* bytes, uint32_t n);
/** What an output is about. */
typedef struct {
  /** How much each class speaks for it. */
  const float* scores;
} summary;
/** Gives back what one output holds.
 * @param which It. */
void output_clear(output* which);
/** Loads a network with its first output.
 * @param first Which, and how; then what it is. */
network load_with(output* first);
/** Sums an output up.
 * @param of Which, and how; then what it is. */
summary summarize(output* of);
