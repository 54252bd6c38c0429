/** A shelf. */
typedef void* shelf_t;

/** Makes a shelf. */
int build(shelf_t* shelf, int rows);
/** Clears each row from one place to another, or all of it. @param from one for each row @param to one for each row */
int clear(shelf_t shelf, int* from, int* to);
