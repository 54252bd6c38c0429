#include "mcp/protocol/revisions.hpp"

#include "mcp/protocol/era.hpp"
#include "support/catch.hpp"

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

using namespace rkllm_mcp;
using namespace rkllm_mcp::test;

TEST_CASE("revisions stand from the oldest to the newest, each once, those with a handshake first") {
  const auto all = mcp::all_revisions();
  REQUIRE(all.size() > 1);
  for (std::size_t at = 1; at < all.size(); ++at) {
    CHECK(all[at - 1].name < all[at].name);
    CHECK(all[at - 1].era.has_handshake() >= all[at].era.has_handshake());
  }
}

TEST_CASE("a name that is none of a revision is none, however near it is") {
  for (const std::string_view name :
       {std::string_view(), std::string_view("2025-11-2"), std::string_view("2025-11-255"),
        std::string_view(" 2025-11-25"), std::string_view("2025-11-25\0", 11), std::string_view("\0", 1),
        std::string_view("latest")}) {
    CHECK(mcp::find_revision(name) == nullptr);
    CHECK(&mcp::negotiated_revision(name) == &mcp::newest_handshake_revision());
  }
}

TEST_CASE("the newest revision with a handshake is the last of those") {
  const auto& newest = mcp::newest_handshake_revision();
  CHECK(newest.era.has_handshake());
  for (const mcp::Revision& each : mcp::all_revisions()) {
    if (each.era.has_handshake()) CHECK(each.name <= newest.name);
  }
}

TEST_CASE("the revisions without a handshake are named from the newest to the oldest") {
  const auto names = mcp::stateless_revisions();
  REQUIRE_FALSE(names.empty());
  CHECK(std::is_sorted(names.rbegin(), names.rend()));
  for (const auto& name : names) CHECK_FALSE(mcp::find_revision(name)->era.has_handshake());
  std::size_t with_handshake = 0;
  for (const mcp::Revision& each : mcp::all_revisions()) with_handshake += each.era.has_handshake() ? 1 : 0;
  CHECK(names.size() + with_handshake == mcp::all_revisions().size());
}

TEST_CASE("a revision serves the methods of its era by their whole names, and no others") {
  for (const mcp::Revision& each : mcp::all_revisions()) {
    INFO(each.name);
    CHECK(each.serves("tools/call"));
    CHECK(each.serves("initialize") == each.era.has_handshake());
    CHECK(each.serves("subscriptions/listen") != each.era.has_handshake());
    for (const std::string_view none :
         {"", "tools", "tools/", "Tools/call", "tools/call ", "notifications/initialized"}) {
      CHECK_FALSE(each.serves(none));
    }
  }
}
