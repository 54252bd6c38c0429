#include "library/loaded_library.hpp"

#include "support/catch.hpp"

#include <rkllm_mcp/errors.hpp>

#include <string>
#include <utility>

using namespace rkllm_mcp;
using rkllm_mcp::test::has_text;

TEST_CASE("every published version gets the ABI set that has its layouts") {
  const std::pair<const char*, const char*> published[] = {
      {"1.1.0", "1.1.4"}, {"1.1.1", "1.1.4"}, {"1.1.2", "1.1.4"}, {"1.1.3", "1.1.4"},
      {"1.1.4", "1.1.4"}, {"1.2.0", "1.2.0"}, {"1.2.1", "1.2.3"}, {"1.2.1b1", "1.2.1b1"},
      {"1.2.2", "1.2.3"}, {"1.2.3", "1.2.3"}, {"1.3.0", "1.3.0"}};
  for (const auto& [version, set] : published) {
    INFO(version);
    const AbiChoice choice = choose_abi_set(version, "");
    CHECK(choice.set->version == set);
    CHECK(choice.warning.empty());
  }
}

TEST_CASE("an unknown patch release of the newest series is used with a warning") {
  const AbiChoice choice = choose_abi_set("1.3.7", "");
  CHECK(choice.set->version == "1.3.0");
  CHECK_THAT(choice.warning, has_text("1.3.7"));
}

TEST_CASE("any other version is refused with what is known and how to force it") {
  for (const char* version : {"9.9.9", "1.4.0", "1.2.4", "1.1.5", "1.0.1", "1.3", ""}) {
    INFO(version);
    CHECK_THROWS_WITH(choose_abi_set(version, ""), has_text("1.1.0, 1.1.1") && has_text("runtime.abi"));
  }
  CHECK(choose_abi_set("9.9.9", "1.3.0").set->version == "1.3.0");
  CHECK_FALSE(choose_abi_set("9.9.9", "1.3.0").warning.empty());
  CHECK(choose_abi_set("1.2.1", "1.2.1b1").set->version == "1.2.1b1");
  CHECK_THROWS_AS(choose_abi_set("1.3.0", "0.0.1"), RpcError);
}

TEST_CASE("a set has the methods of its version, and says what only others have") {
  const AbiSet& oldest = *abi_sets().front();
  CHECK(oldest.methods.size() == 10);
  REQUIRE(oldest.elsewhere.size() == 22);
  CHECK(oldest.elsewhere[0].name == "rkllm_clear_kv_cache");
  CHECK(oldest.elsewhere[0].versions == "1.2.0");
  const AbiSet& newest = *abi_sets().back();
  CHECK(newest.methods.size() == 15);
  REQUIRE(newest.elsewhere.size() == 2);
  CHECK(newest.elsewhere[0].name == "RKLLM_RUN_GET_LAST_HIDDEN_LAYER");
  CHECK(newest.elsewhere[0].versions == "<= 1.1.4");
}
