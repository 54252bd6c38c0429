#include <stdbool.h>
#include <stdint.h>

/** How urgent. */
typedef enum { kLow, kHigh, kHighest = 3 } Urgency;

/** A head of a message, to the bit. */
typedef struct {
  /** Of the format. */
  unsigned version : 3;
  /** Whether an answer is expected. */
  bool wants_answer : 1;
  unsigned : 2;
  /** How urgent it is. */
  Urgency urgency : 2;
  /** Towards the past or the future. */
  int shift : 4;
  /** Ends its unit. */
  unsigned : 0;
  /** Any number of 40 bits. */
  uint64_t stamp : 40;
  /** 0 or 1. */
  uint8_t is_last : 1;
  /** Behind the bits. */
  int32_t length;
} Head;

/** Sends. */
int put(const Head* head);

/** Receives. */
int take(Head* head);
