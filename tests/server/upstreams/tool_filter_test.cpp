#include "upstreams/offered.hpp"

#include "support/catch.hpp"

using rkllm_mcp::ToolFilter;

TEST_CASE("tools pass by their names: denied ones never, and where some are allowed no others") {
  CHECK(ToolFilter{}.passes("anything"));
  const ToolFilter allowing{.allow = {"read_*", "list"}};
  CHECK(allowing.passes("read_file"));
  CHECK(allowing.passes("list"));
  CHECK_FALSE(allowing.passes("list_all"));
  CHECK_FALSE(allowing.passes("write_file"));
  const ToolFilter denying{.deny = {"*delete*", "run?"}};
  CHECK(denying.passes("read"));
  CHECK(denying.passes("run"));
  CHECK_FALSE(denying.passes("run2"));
  CHECK_FALSE(denying.passes("undelete_it"));
  const ToolFilter both{.allow = {"*_file"}, .deny = {"write_[a-z]*"}};
  CHECK(both.passes("read_file"));
  CHECK_FALSE(both.passes("write_file"));
  CHECK(both.passes("write_2_file"));
}
