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
  /** Its mark: one character. */
  char mark;
  /** Whether it is for everybody. */
  char shared;
  /** What it is called in two languages. */
  const char* titles[2];
  /** How many notes there are. */
  int n_notes;
  /** Notes on it. */
  const char* notes[3];
} Palette;

/** The mark that is told from another one. */
char next_mark(char mark);

/** Paints. */
int paint(const Palette* palette);

/** Mixes a palette. */
int mix(Palette* palette);
