/** What is known of the library. */
typedef struct {
  /** Of its release. */
  int version;
  /** What it is called. */
  const char* name;
} About;

/** Tells what is known; about_free frees it. */
About* about(int language);
/** Frees it. */
void about_free(About* about);
/** The same, kept by the library. */
const About* about_always(void);
