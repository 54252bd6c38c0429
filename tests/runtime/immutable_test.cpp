#include "immutable.hpp"

#include "support/catch.hpp"

#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace rkllm_mcp::test {

static_assert(!std::is_default_constructible_v<Immutable<std::string>>, "it is never empty");

TEST_CASE("copies of an immutable value are of one value, which what was moved from keeps") {
  Immutable<std::string> first(std::string("a"));
  const Immutable<std::string> second = first;
  CHECK(second.get() == first.get());
  const Immutable<std::string> third = std::move(first);
  CHECK(third.get() == second.get());
  CHECK(*first == "a");  // NOLINT(bugprone-use-after-move): that is what is tested
  CHECK(third->size() == 1);
}

TEST_CASE("an immutable value ends with its last copy, and is replaced for one copy only") {
  const auto counted = std::make_shared<int>(1);
  std::optional<Immutable<std::shared_ptr<int>>> first(counted);
  std::vector<Immutable<std::shared_ptr<int>>> others(2, *first);
  CHECK(counted.use_count() == 2);
  others[0] = Immutable<std::shared_ptr<int>>(nullptr);
  CHECK(*others[0] == nullptr);
  CHECK(*others[1] == counted);
  first.reset();
  CHECK(counted.use_count() == 2);
  others.clear();
  CHECK(counted.use_count() == 1);
}

}  // namespace rkllm_mcp::test
