typedef unsigned short level_t;
typedef float seconds_t;
typedef char letter_t;
typedef unsigned long word_t;
