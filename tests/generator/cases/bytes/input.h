/** Bytes and how many: an array of char that is no text. */
typedef struct {
  /** The bytes. */
  const char* data;
  /** How many. */
  size_t size;
} Blob;

/** Takes some. */
int put(const Blob* blob);
/** Takes some, as they are. */
int put_plain(const char* data, unsigned int size);
/** Gives some back. */
Blob get(void);
