// C that other people's headers are made of, one of each.
#include <stdarg.h>
#include <stdio.h>
#include <sys/types.h>

#define LIMIT 0x10
#define RATIO 0.5
#define NAME "idioms"

/** Known by name only. */
typedef struct stream stream;
typedef struct stream* stream_handle;
typedef unsigned int id_type;

enum { kFirst = 1, kSecond };
enum color { kRed = -1, kGreen };

/** Compares two items. */
typedef int (*compare_fn)(const void* one, const void* other, void* context);

union number {
  int i;
  double d;
};

struct table {
  compare_fn compare;
  int (*open)(stream* s, const char* mode, ...);
  void (*hooks[2])(void);
};

struct list {
  struct list* next;
  union {
    long number;
    const char* text;
  };
  struct {
    char bytes[3];
    short grid[2][3];
  } inner;
  unsigned int low : 3, high : 13;
  enum color color;
  off_t where;
  long double precise;
  char rest[];
};

void (*replace_hook(id_type id, void (*hook)(int)))(int);
int sum(const int values[4], size_t n);
int print(stream_handle s, FILE* file, const char* format, ...);
int vprint(stream_handle s, const char* format, va_list arguments);
