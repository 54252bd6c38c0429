/** Something that lives. */
typedef struct thing* thing_t;

/** Makes one. */
int make(thing_t* thing, const char* name);
/** Asks one. @return 7 for yes, 3 for no. */
int is_alive(thing_t thing);
/** Tells sizes. */
int sizes(thing_t thing, int* out);
/** Ends one. */
int unmake(thing_t thing);
