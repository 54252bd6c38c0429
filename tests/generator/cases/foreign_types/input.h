#include "types.h"

/** A level, of a type that another header declares. */
typedef level_t loudness_t;

/** How loud it is. */
typedef struct {
  /** The level. */
  loudness_t level;
  /** How long, in seconds. */
  seconds_t time;
} Sound;

/** Plays a sound.
 * @param name What it is called.
 * @param word How the machine stores it. */
int play(const Sound* sound, const letter_t* name, word_t word);
