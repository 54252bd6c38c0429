#define LIMIT 4

typedef enum { kIdle = 0, kBusy = 1, kLost = 2 } State;

typedef struct {
  int id;
  const char* name;
  char tag[8];
} Item;

typedef struct {
  Item first;
  State state;
} Shelf;

int open_shelf(Shelf* shelf, int rows);
int count_items(Shelf* shelf);
