#define LIMIT 8

typedef enum { kIdle = 0, kBusy = 1, kDone = 3 } State;

typedef struct {
  int id;
  int weight;
  const char* name;
  char tag[16];
} Article;

typedef struct {
  Article first;
  State state;
} Shelf;

int open_shelf(Shelf* shelf, int n_rows);
int close_shelf(Shelf* shelf);
