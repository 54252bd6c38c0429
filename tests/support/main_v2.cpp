// The test runner's main for Catch2 2.13, which ships none as a library.
#define CATCH_CONFIG_MAIN
#include <catch2/catch.hpp>
