#include "server/tools/offered/offered_bench.hpp"
#include "support/catch.hpp"
#include "support/refusal.hpp"

#include <rkllm_mcp/errors.hpp>

#include <string>

using namespace rkllm_mcp;
using namespace rkllm_mcp::test;

TEST_CASE("what can be computed exactly is told as a number, without a fraction") {
  OfferedBench bench("calculate");
  const ToolAnswer answer = bench.run({{"expression", "0.1 + 0.2"}});
  CHECK(answer.text == "0.3");
  CHECK(answer.structured == Json{{"result", "0.3"}, {"is_exact", true}, {"fraction", nullptr}});
  CHECK(bench.run({{"expression", "sqrt(9/4)"}}).structured ==
        Json{{"result", "1.5"}, {"is_exact", true}, {"fraction", nullptr}});
}

TEST_CASE("what has no end is told as about a number, with the fraction that it is") {
  OfferedBench bench("calculate");
  const ToolAnswer answer = bench.run({{"expression", "-2/3"}});
  CHECK(answer.text == "about -0." + std::string(49, '6') + "7");
  CHECK(answer.structured ==
        Json{{"result", "-0." + std::string(49, '6') + "7"}, {"is_exact", false}, {"fraction", "-2/3"}});
}

TEST_CASE("of a root that was rounded no fraction is told, also where its digits end") {
  OfferedBench bench("calculate");
  for (const char* const expression : {"sqrt(2)", "sqrt(2) - sqrt(2) + 0.5", "sqrt(2) / 3"}) {
    INFO(expression);
    const ToolAnswer answer = bench.run({{"expression", expression}});
    CHECK(answer.text == "about " + answer.structured["result"].get<std::string>());
    CHECK(answer.structured["is_exact"] == false);
    CHECK(answer.structured["fraction"].is_null());
  }
}

TEST_CASE("what is no expression is the caller's fault, and what cannot be computed is a failure of the tool") {
  OfferedBench bench("calculate");
  const RpcError error = error_of([&] { bench.run({{"expression", "1 +"}}); });
  CHECK(error.code() == ErrorCode::kInvalidParams);
  CHECK(error.data() == Json{{"path", "params.arguments.expression"}});
  CHECK_THAT(bench.failure({{"expression", "1 / 0"}}), has_text("zero"));
  CHECK(bench.tool.reach == OfferedTool::Reach::kMachine);
  CHECK(bench.tool.missing.empty());
}
