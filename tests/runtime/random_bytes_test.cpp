#include "random_bytes.hpp"

#include "support/catch.hpp"

#include <map>
#include <set>
#include <string>

using namespace rkllm_mcp;

TEST_CASE("bytes that nobody can guess are other ones each time") {
  const auto first = random_bytes<32>();
  CHECK(first != random_bytes<32>());
  CHECK(first != decltype(first){});
}

TEST_CASE("an id is its prefix and 24 letters and digits, and no two are the same") {
  std::set<std::string> ids;
  for (int i = 0; i < 1000; ++i) {
    const std::string id = new_id("resp_");
    REQUIRE(id.size() == 5 + 24);
    REQUIRE(id.starts_with("resp_"));
    REQUIRE(id.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789", 5) == std::string::npos);
    REQUIRE(ids.insert(id).second);
  }
  CHECK(new_id().size() == 24);
}

TEST_CASE("no letter of an id is likelier than another") {
  // 72,000 letters of 36: each some 2,000 times, with a standard deviation of 44. Eight of them are as good as never.
  constexpr int kIds = 3000;
  constexpr int kEach = kIds * 24 / 36;
  std::map<char, int> seen;
  for (int i = 0; i < kIds; ++i) {
    for (const char letter : new_id()) ++seen[letter];
  }
  CHECK(seen.size() == 36);
  for (const auto& [letter, times] : seen) {
    INFO(letter);
    CHECK(times > kEach - 8 * 44);
    CHECK(times < kEach + 8 * 44);
  }
}
