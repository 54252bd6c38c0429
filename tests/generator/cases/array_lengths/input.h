/** A model. */
typedef void* model_t;

/** Ids, and what belongs to them. */
typedef struct {
  /** The ids. */
  const int32_t* ids;
  /** How many. */
  size_t n_ids;
  /** One weight for each id. */
  const float* weights;
  /** One vector for each id. */
  const float* vectors;
} Prompt;

/** Makes a model. */
int load(model_t* model, int vocabulary);
/** Takes a prompt. */
int take(model_t model, const Prompt* prompt);
