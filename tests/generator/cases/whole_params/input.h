#include <stdint.h>
#include <stddef.h>

/** A place. */
typedef struct {
  int32_t x;
} Place;

/** Turns what is drawn. @param rows three rows of three @param names one for each row */
int turn(const float rows[3][3], const char names[3][8]);
/** Fills an area. @param corners the four of them @param colour RGB @param dashes in turn, or none */
int fill(const Place corners[4], const uint8_t colour[3], const int32_t dashes[2]);
/** Opens what is locked. @param key of so many bytes @param weights of three places @param ids one for each weight */
int unlock(const char key[4], const double weights[3], const int32_t* ids);
