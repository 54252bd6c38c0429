/* What an interface in C can be made of, each idiom once: what the overlays of corpus/overlay are about. */

/** A model. */
typedef struct model* model_t;

/** What a question is made of. */
typedef enum { kText = 0, kIds = 1, kPicture = 5 } Kind;

/** What a call of on_said_t is about. */
typedef enum { kWord, kEnd, kFailed } Phase;

/** n_rows rows of n_columns values. */
typedef struct {
  const float* values;
  int n_rows;
  int n_columns;
} Scores;

/** How long it took. */
typedef struct {
  float seconds;
} Timing;

/** What was said. */
typedef struct {
  const char* text;
  int32_t token;
  Scores scores;
  Timing timing;
} Said;

/** Hears what is said. */
typedef int (*on_said_t)(Said* result, void* userdata, Phase state);

/** All callbacks of a model. */
typedef struct {
  on_said_t on_said;
  void* userdata;
} Callbacks;

/** Ids, and what belongs to them. */
typedef struct {
  const int32_t* ids;
  size_t n_ids;
  const float* weights;
  const float* vectors;
  const char* title;
  float* points;
  int n_points;
  int width;
} Prompt;

/** One of them. */
typedef struct {
  Kind kind;
  union {
    const char* text;
    Prompt prompt;
    int64_t number;
  };
} Question;

/** One after another. */
typedef struct Chain {
  struct Chain* next;
  int length;
} Chain;

/** Settings, some of them in structs of their own. */
typedef struct {
  const char* path;
  uint32_t cpus;
  int8_t n_cpus;
  int n_batch;
  Kind kind;
  Timing limit;
  struct {
    int32_t depth;
  };
  struct {
    float low;
    bool keep;
  } draft;
  char reserved[16];
} Settings;

Settings settings(void);
int load(model_t* model, const Settings* settings, Callbacks* callbacks);
model_t open(const char* path, int n_batch);
int ask(model_t model, const Question* questions, void* userdata);
int talk(model_t model, const Question* question, on_said_t on_said, void* userdata);
int clear(model_t model, int* from, int* to);
int put(model_t model, const char* data, unsigned int size);
int sizes(model_t model, int* out);
int is_busy(model_t model);
int measure(model_t model, Timing* timing, Kind* kind, bool* warm, float* share);
int called(model_t model, char* name, unsigned int room);
char* describe(model_t model);
void free_text(char* text);
int follow(Chain* chain);
int stop(model_t model);
int unload(model_t model);
