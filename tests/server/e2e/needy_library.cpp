// What is read of a runtime before it is loaded, and a need that keeps it from being loaded.
int test_absent();
const char* test_needy_version();
int test_needy();

const char* test_needy_version() { return "RKLLM SDK (version: 1.3.0 | needy"; }
int test_needy() { return test_absent(); }
