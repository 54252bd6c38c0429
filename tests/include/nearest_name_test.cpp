#include "support/catch.hpp"

#include <rkllm_mcp/nearest_name.hpp>

#include <algorithm>
#include <cstddef>
#include <string>
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

TEST_CASE("a distance that has a limit is the distance, or the limit, which ends the work early") {
  const std::vector<std::string> words = {"",       "a",       "top_k", "topk", "otpk", "ptook",
                                          "kitten", "sitting", "fsat",  "fast", "cab"};
  for (const auto& from : words) {
    for (const auto& to : words) {
      for (const std::size_t limit : {1, 2, 3, 9}) {
        std::size_t steps = 0;
        CHECK(edit_distance_below(limit, from, to, steps) == std::min(limit, edit_distance(from, to)));
      }
    }
  }
  std::size_t steps = 0;
  CHECK(edit_distance_below(3, std::string(100, 'a'), std::string(100, 'b'), steps) == 3);
  CHECK(steps == 300);
}

TEST_CASE("of very many candidates only the first are looked at") {
  struct Candidate {
    operator std::string_view() const {
      ++looked_at;
      return name;
    }
    const std::string& name;
    std::size_t& looked_at;
  };
  const std::string name(128, 'x');
  const std::string other(128, 'y');
  std::size_t looked_at = 0;
  const std::vector<Candidate> candidates(100'000, {other, looked_at});
  CHECK_FALSE(nearest_name(name, candidates));
  CHECK(looked_at < 1000);
}

TEST_CASE("among thousands of names of the usual length the nearest is found, wherever it stands") {
  std::vector<std::string> names;
  for (int each = 0; each < 3000; ++each) names.push_back("board_" + std::to_string(each) + "_with_a_reading");
  names.emplace_back("boil_an_egg");
  CHECK(nearest_name("boil_a_egg", names) == "boil_an_egg");
  CHECK(nearest_name("a_reading", names) == "board_0_with_a_reading");
}

TEST_CASE("a name is found at the beginning or the end of a longer one, however long that is") {
  const std::string longer = "Egg" + std::string(100'000, '.') + "Boiled";
  const std::vector<std::string_view> names = {"top_k", longer};
  CHECK(nearest_name("eGG", names) == longer);
  CHECK(nearest_name("boiled", names) == longer);
  CHECK_FALSE(nearest_name("fried", names));
}

TEST_CASE("at any distance a name is found that takes the fewest edits, and the first of equals") {
  const std::vector<std::string> names = {"top_k", "top_p", "temperature"};
  CHECK(nearest_at_any_distance("temperat", names) == "temperature");
  CHECK(nearest_at_any_distance("banana", names) == "top_k");
  CHECK(nearest_at_any_distance("", names) == "top_k");
  CHECK(nearest_at_any_distance("top_p" + std::string(100'000, 'x'), names) == "top_p");
}
