/** Writes to the log. */
int log_it(const char* format, ...);
/** Whether it is so. */
_Bool is_so(_Bool not_so);
/** What may be longer than it is declared. */
typedef struct {
  /** How heavy it is. */
  double weight;
  /** The rest. */
  int items[];
} Open;
/** Takes the first part. */
int take(const Open* open);
