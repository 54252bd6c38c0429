/** Something that is made of parts. */
typedef struct thing* thing_t;

/** Makes one. @return it, or NULL */
thing_t make_thing(int n_parts);
/** Tells what it is. @return a text of its own */
char* describe(thing_t thing);
/** Frees a text. */
void free_text(char* text);
/** Weighs the parts. @return the sum */
float weigh(thing_t thing, float* weights);
/** Ends one. @return whether there was one */
bool unmake(thing_t thing);
/** What is left of one. */
typedef struct {
  /** What each part weighs. */
  const float* weights;
} remains;
/** Ends one, and tells what is left of it. */
remains take_apart(thing_t thing);
