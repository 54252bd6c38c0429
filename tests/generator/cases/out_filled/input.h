/** The latest values.
 * @param values Them.
 * @param room How many at most.
 * @param n How many there are. */
int latest(int32_t* values, uint32_t room, uint32_t* n);
/** The weights.
 * @param weights Them.
 * @param n How many at most, and how many there are. */
int weights_of(float* weights, size_t* n);
/** Reads bytes, and tells how many.
 * @param data Them.
 * @param size How many at most. */
int receive(void* data, uint32_t size);
/** The name.
 * @param name It. */
int tell_name(char name[16]);
/** Counts on. */
int next_of(uint64_t* number);
/** Where the file is.
 * @param path It; the library keeps it. */
int path_of(const char** path);
