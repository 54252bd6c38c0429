/** Settings, some of them in structs of their own. */
typedef struct {
  /** Which CPUs. */
  uint32_t cpus;
  /** How many. */
  int8_t n_cpus;
  struct {
    /** Members of an anonymous struct are members of the struct around it. */
    int32_t depth;
  };
  /** The draft. */
  struct {
    /** Its length. */
    int32_t length;
    /** Whether it is kept. */
    bool keep;
  } draft;
} Settings;

/** Gives the present settings. */
Settings settings(void);
/** Changes what is given. */
int change(const Settings* settings);
/** Begins with these. */
int begin(const Settings* settings);
