/** What is known of the library. */
typedef struct {
  /** Of its release. */
  int version;
  /** What it is called. */
  const char* name;
} About;

/** What was measured. */
typedef struct {
  /** As many rows. */
  const int* marks;
  int n_rows;
} Marks;

/** Tells what is known; about_free frees it. */
About* about(int language);
/** Frees it. */
void about_free(About* about);
/** The same, kept by the library. */
const About* about_always(void);
/** Measures. */
Marks* measure(void);
/** Frees what measure has returned. */
void marks_free(Marks* marks);
