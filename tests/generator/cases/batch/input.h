/** A model. */
typedef void* model_t;

/** One question. */
typedef struct {
  /** Its text. */
  const char* text;
} Question;

/** Makes a model. */
int load(model_t* model, int n_batch);
/** Asks as many questions as the model takes at a time. */
int ask(model_t model, const Question* questions);
