#include "backend/loaded_library.hpp"

#include "support/catch.hpp"

#include <rkllm_mcp/errors.hpp>

using namespace rkllm_mcp;

TEST_CASE("a published version gets its own ABI set") {
  const AbiChoice choice = choose_abi_set("1.3.0", "");
  CHECK(choice.set->version == "1.3.0");
  CHECK(choice.warning.empty());
}

TEST_CASE("an unknown patch release of a known series is used with a warning") {
  const AbiChoice choice = choose_abi_set("1.3.7", "");
  CHECK(choice.set->version == "1.3.0");
  CHECK(choice.warning.find("1.3.7") != std::string::npos);
}

TEST_CASE("any other version is refused, and can be forced") {
  CHECK_THROWS_AS(choose_abi_set("9.9.9", ""), RpcError);
  CHECK(choose_abi_set("9.9.9", "1.3.0").set->version == "1.3.0");
  CHECK_FALSE(choose_abi_set("9.9.9", "1.3.0").warning.empty());
  CHECK_THROWS_AS(choose_abi_set("1.3.0", "0.0.1"), RpcError);
}
