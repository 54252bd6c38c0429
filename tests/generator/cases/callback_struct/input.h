/** A model. */
typedef void* model_t;

/** What a call is about. */
typedef enum {
  /** A word. */
  kWord = 0,
  /** The end. */
  kEnd = 1,
  /** A failure. */
  kFailed = 2
} SaidState;

/** Rows of numbers behind a word. */
typedef struct {
  /** n_rows rows of n_columns values. */
  const float* values;
  /** Rows. */
  int n_rows;
  /** Columns. */
  int n_columns;
} Scores;

/** How it went. */
typedef struct {
  /** Words. */
  int words;
} Total;

/** What was said. */
typedef struct {
  /** The word. */
  const char* text;
  /** Its number. */
  int32_t token;
  /** How likely each word was. */
  Scores scores;
  /** How it went, at the end. */
  Total total;
} Said;

/** Hears what is said. @return 0 */
typedef int (*on_said_t)(Said* result, void* userdata, SaidState state);

/** All callbacks of a model. */
typedef struct {
  /** Hears what is said. */
  on_said_t on_said;
  /** Handed to on_said. */
  void* userdata;
} Callbacks;

/** Makes a model. */
int load(model_t* model, Callbacks* callbacks);
/** Talks until it has nothing to say. */
int talk(model_t model, const char* prompt, void* userdata);
