/** How to do it. */
typedef struct {
  /** How fast; 0 stands still. */
  int speed;
  /** How often. */
  int times;
} How;

/** Does it. */
int act(const How* how);
