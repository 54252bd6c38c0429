/** One of two. */
enum Kind {
  /** One. */
  kOne = 0,
  /** Two. */
  kTwo = 1
};
/** What is said. */
struct Words {
  /** The text, all of it, at any length. */
  const char* text;
  /** Who speaks. */
  const char* role;
  /** The kind. */
  enum Kind kind;
};
/** Says words. */
int say(struct Words* words);
/** Says words, too. */
int say_also(struct Words* words);
