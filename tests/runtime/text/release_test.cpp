#include "text/release.hpp"

#include "support/catch.hpp"

using namespace rkllm_mcp;

TEST_CASE("a version has three numbers, with or without a v before and something behind") {
  CHECK(release_at_start("0.9.8") == Release{0, 9, 8});
  CHECK(release_at_start("v0.9.8") == Release{0, 9, 8});
  CHECK(release_at_start("1.2.1b1") == Release{1, 2, 1});
  CHECK(release_at_start("1.2.1.rkllm") == Release{1, 2, 1});
  for (const char* const text : {"", "v", "1", "1.2", "1.2.", "1.2.3.4", "1..2", "x1.2.3", "99999999999.1.1"}) {
    INFO(text);
    CHECK_FALSE(release_at_start(text));
  }
  CHECK(Release{0, 10, 0} > Release{0, 9, 8});
}
