/** A function of plain parameters needs no overlay. */
int add(int32_t a, uint8_t b, bool c, float d);
/** Nor does one that returns nothing. */
void nothing(void);
