#include <stdbool.h>

/** What a pen leaves. */
typedef enum { kRed, kGreen = 5 } Colour;

/** Arrays in place of all that a number, a name or a text can be. */
typedef struct {
  /** Two names. */
  char names[2][8];
  /** How heavy each is. */
  double weights[3];
  /** Which are in use. */
  bool used[2];
  /** How many colours there are. */
  int n_colours;
  /** The colours. */
  Colour colours[4];
  /** Colours on a grid. */
  Colour grid[2][2];
} Palette;

/** Paints. */
int paint(const Palette* palette);

/** Mixes a palette. */
int mix(Palette* palette);
