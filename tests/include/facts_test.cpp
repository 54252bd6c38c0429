#include "support/catch.hpp"

#include <rkllm_mcp/facts.hpp>
#include <rkllm_mcp/json.hpp>
#include <rkllm_mcp/v1_3_0/methods.hpp>

#include <set>
#include <string>

using namespace rkllm_mcp;

namespace {

std::string fact(const std::string& name) { return answer(v1_3_0::kAbiSet.facts, name).value_or("none").dump(); }

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

TEST_CASE("every fact is told under its own name, and each name is that of one fact") {
  std::set<std::string> names;
  for (const Fact& known : v1_3_0::kAbiSet.facts) {
    const Json told = answer_of(known);
    INFO(told);
    CHECK(told.at("name") == known.name);
    CHECK(names.insert(std::string(known.name)).second);
    for (const Json& each : told.value("enumerators", Json::array())) CHECK(names.insert(each.at("name")).second);
  }
  CHECK(names.size() == 8 + 3 + 11 + 17 + 3 + 1);  // macros, enums, enumerators, structs, callbacks, handle type
}
