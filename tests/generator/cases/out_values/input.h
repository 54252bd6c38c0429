/** What a sensor is. */
typedef enum { kWarm, kCold } Kind;

/** What a sensor measured. */
typedef struct {
  /** In degrees. */
  float degrees;
  /** Of the sensor. */
  Kind kind;
} Reading;

/** Measures.
 * @param sensor Which one.
 * @param reading What it measured.
 * @param count How often it has measured.
 * @param kind What it is.
 * @param is_on Whether it is on.
 * @param share Of the time. */
int measure(int sensor, Reading* reading, uint32_t* count, Kind* kind, bool* is_on, float* share);
/** Tells what a sensor is called.
 * @param name What it is called.
 * @param size The longest name, in bytes. */
int name_of(int sensor, char* name, uint32_t size);
/** The last values.
 * @param values Them.
 * @param n How many. */
void history(int32_t* values, uint32_t n);
