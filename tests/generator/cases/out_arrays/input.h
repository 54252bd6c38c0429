#include <stdbool.h>
#include <stdint.h>

/** What a sensor is. */
typedef enum { kWarm, kCold } Kind;

/** What a sensor measured. */
typedef struct {
  /** In degrees. */
  double degrees;
  /** Of the sensor. */
  Kind kind;
} Reading;

/** The last readings.
 * @param readings Them.
 * @param room How many at most.
 * @param n How many there are. */
int readings_of(Reading* readings, uint32_t room, uint32_t* n);
/** What the sensors are called.
 * @param names It; the library keeps them.
 * @param n How many. */
int all_names(const char** names, uint32_t n);
/** What the sensors are labelled with.
 * @param labels It. */
int labels_of(char labels[2][4]);
/** Of each sensor.
 * @param kinds What it is.
 * @param are_on Whether it is on.
 * @param exact How exact it is. */
int tell(Kind kinds[2], bool are_on[2], double exact[2]);
/** How sensors go together.
 * @param matrix It. */
int matrix_of(int32_t matrix[2][3]);
/** Sets how much a sensor weighs.
 * @param weight It.
 * @param factor By which it is multiplied.
 * @param all Of all sensors.
 * @param n How many of them.
 * @param was What it was. */
int weigh(double weight, double factor, const double* all, uint32_t n, double* was);
/** How much all weigh. */
double weight(void);
/** How much one of them weighs. */
float share(void);
