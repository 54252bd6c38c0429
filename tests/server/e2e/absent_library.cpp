int test_absent();
int test_absent() { return 1; }
