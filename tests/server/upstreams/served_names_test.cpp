#include "upstreams/served_names.hpp"

#include "support/catch.hpp"
#include "upstreams/upstream_tool.hpp"

#include <set>
#include <string>

using namespace rkllm_mcp;

TEST_CASE("what is served has its upstream's name before its own, with a mark where that is taken, and nothing twice") {
  ServedNames names({"a", "b"}, {"a_taken"});
  CHECK(names.take("a", "x") == "a_x");
  CHECK(names.take("b", "x") == "b_x");
  CHECK(names.take("a", "taken") == marked_name("a", "taken"));
  CHECK(names.take("a", "x") == marked_name("a", "x"));
  CHECK_FALSE(names.take("a", "x"));
  CHECK(names.take("a", "x.y") == marked_name("a", "x.y"));
}

TEST_CASE("a name that could be another upstream's has a mark, whichever comes first") {
  ServedNames names({"kitchen", "kitchen_x"}, {});
  CHECK(names.take("kitchen", "x_y") == marked_name("kitchen", "x_y"));
  CHECK(names.take("kitchen_x", "y") == "kitchen_x_y");
  CHECK(names.take("kitchen", "x") == "kitchen_x");
}

TEST_CASE("many thousand names are all served, each its own") {
  constexpr int kMany = 50'000;
  ServedNames names({"a", "b"}, {});
  std::set<std::string> served;
  for (int each = 0; each < kMany; ++each) {
    for (const char* const upstream : {"a", "b"}) served.insert(names.take(upstream, std::to_string(each)).value());
  }
  CHECK(served.size() == 2 * kMany);
}
