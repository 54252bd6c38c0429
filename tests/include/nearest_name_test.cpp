#include "support/catch.hpp"

#include <rkllm_mcp/nearest_name.hpp>

#include <string_view>
#include <vector>

using namespace rkllm_mcp;

TEST_CASE("the edit distance counts insertions, removals, replacements and swaps") {
  CHECK(edit_distance("", "") == 0);
  CHECK(edit_distance("top_k", "topk") == 1);
  CHECK(edit_distance("kitten", "sitting") == 3);
  CHECK(edit_distance("fsat", "fast") == 1);
  CHECK(edit_distance("abc", "cab") == 2);
}

TEST_CASE("a name that is nearly right is found, one that is not is not") {
  const std::vector<std::string_view> names = {"top_k", "top_p", "temperature"};
  CHECK(nearest_name("topk", names) == "top_k");
  CHECK(nearest_name("temprature", names) == "temperature");
  CHECK(nearest_name("TEMPERATURE", names) == "temperature");
  CHECK_FALSE(nearest_name("banana", names));
}
