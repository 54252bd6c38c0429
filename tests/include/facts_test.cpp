#include "support/catch.hpp"

#include <rkllm_mcp/json.hpp>
#include <rkllm_mcp/v1_3_0/methods.hpp>

#include <set>
#include <string>

using namespace rkllm_mcp;

namespace {

std::string fact(const std::string& name) {
  for (const Fact& known : v1_3_0::kAbiSet.facts) {
    if (known.name == name) return std::string(known.value);
  }
  return "none";
}

}  // namespace

TEST_CASE("constants and enumerators are known by name") {
  CHECK(fact("CPU4") == R"({"name":"CPU4","value":16})");
  CHECK(fact("RKLLM_RUN_FINISH") == R"({"name":"RKLLM_RUN_FINISH","value":2,"enum":"LLMCallState"})");
  CHECK(v1_3_0::CPU7 == 128);
}

TEST_CASE("enums, structs, callbacks and the handle type are known by name") {
  CHECK(Json::parse(fact("RKLLMInferMode")).at("enumerators").size() == 3);
  CHECK(Json::parse(fact("RKLLMParam")).at("fields").at(0) ==
        Json({{"name", "model_path"}, {"type", "const char*"}, {"offset", 0}, {"size", sizeof(void*)}}));
  CHECK(Json::parse(fact("LLMHandle")).at("declaration") == "typedef void* LLMHandle");
  CHECK(Json::parse(fact("LLMResultCallback")).at("kind") == "callback");
}

TEST_CASE("every fact is JSON on one line, under its own name, once") {
  std::set<std::string_view> names;
  for (const Fact& known : v1_3_0::kAbiSet.facts) {
    INFO(known.name);
    CHECK(names.insert(known.name).second);
    CHECK(known.value.find('\n') == std::string_view::npos);
    CHECK(Json::parse(known.value).at("name") == known.name);
  }
  CHECK(names.size() == 8 + 3 + 11 + 17 + 3 + 1);  // macros, enums, enumerators, structs, callbacks, handle type
}
