/** Takes two arrays, either of which may be NULL. */
int put_pair(const float* a, const float* b, int n);
/** Takes an array, and the weights of its elements; NULL: all are 1. */
int put_weighted(const float* weights, const float* values, int n);
