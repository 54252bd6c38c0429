#include "mcp/protocol/state_seal.hpp"

#include "support/catch.hpp"

#include <rkllm_mcp/errors.hpp>

#include <chrono>
#include <string>

using namespace rkllm_mcp;

namespace {

const Json kState{{"greeting", "Xin chào"}, {"round", 2}};

}  // namespace

TEST_CASE("a sealed state is opened for the subject that it was made for") {
  const mcp::StateSeal seal;
  CHECK(seal.open(seal.seal(kState, "a call"), "a call") == kState);
  CHECK(seal.open(seal.seal(nullptr, ""), "") == nullptr);
  CHECK(seal.seal(kState, "a call") != mcp::StateSeal().seal(kState, "a call"));  // a key of each process's own
}

TEST_CASE("a state of another subject, of another process, or too old, is refused") {
  const mcp::StateSeal seal;
  const std::string sealed = seal.seal(kState, "a call");
  CHECK_THROWS_AS(seal.open(sealed, "another call"), InvalidParams);
  CHECK_THROWS_AS(seal.open(sealed, ""), InvalidParams);
  CHECK_THROWS_AS(mcp::StateSeal().open(sealed, "a call"), InvalidParams);
  const mcp::StateSeal expired(std::chrono::seconds(-2));
  CHECK_THROWS_AS(expired.open(expired.seal(kState, "a call"), "a call"), InvalidParams);
}

TEST_CASE("a sealed state of which any character was changed, or a part is missing, is refused") {
  const mcp::StateSeal seal;
  const std::string sealed = seal.seal(kState, "a call");
  for (std::size_t at = 0; at < sealed.size(); ++at) {
    INFO(at);
    std::string changed = sealed;
    changed[at] = changed[at] == 'A' ? 'B' : 'A';
    CHECK_THROWS_AS(seal.open(changed, "a call"), InvalidParams);
    CHECK_THROWS_AS(seal.open(sealed.substr(0, at), "a call"), InvalidParams);
  }
  for (const char* const odd : {"", ".", "..", "no dot", "\xff.\xff"}) {
    INFO(odd);
    CHECK_THROWS_AS(seal.open(odd, "a call"), InvalidParams);
  }
  CHECK_THROWS_AS(seal.open(sealed + "=", "a call"), InvalidParams);
}

TEST_CASE("what was signed cannot be cut at another place") {
  const mcp::StateSeal seal;
  // A subject that begins as the text ends would have the same signed bytes without the dot between them.
  const std::string sealed = seal.seal(kState, "x.y");
  const auto dot = sealed.find('.');
  CHECK_THROWS_AS(seal.open(sealed.substr(0, dot) + ".x" + sealed.substr(dot), "y"), InvalidParams);
}
