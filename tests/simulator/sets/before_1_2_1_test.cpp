// Thinking before 1.2.1, when a run could not say whether it wanted any.
#include "handle.hpp"

using namespace simulated;

TEST_CASE("a model that thinks cannot be told not to before 1.2.1") {
  const Directory directory;
  Handle handle(directory.model({{"thinking", true}}));
  REQUIRE(handle.run("Why is the sky blue?") == 0);
  CHECK(handle.text().rfind("<think>", 0) == 0);
}
