/** A context. */
typedef uint32_t context_t;

/** Makes a context. */
int make_context(context_t* context, int size);
/** How large it is. */
int size_of(context_t context);
/** Ends it. */
int end_context(context_t context);
