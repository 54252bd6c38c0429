#include "expected.hpp"

#include "golden_caller.hpp"

namespace bindgen::test::since {

TEST_CASE("the same struct means in each version what the entry for that version says") {
  namespace older = rkllm_mcp::v0_since;
  namespace newer = rkllm_mcp::v1_since;
  GoldenCaller then(older::kAbiSet, {{"act", symbol(+[](const older::How* how) { return how->speed; })}});
  CHECK(then.call("act", {{"how", {{"speed", 0}}}}) == Json{{"status", 0}});
  CHECK(then.call("act", {{"how", Json::object()}}) == Json{{"status", 0}});
  GoldenCaller now(newer::kAbiSet, {{"act", symbol(+[](const newer::How* how) { return how->times - 5; })},
                                    {"say", symbol(+[](const char*) { return 0; })}});
  CHECK(now.call("act", {{"how", {{"speed", 1}}}}) == Json{{"status", 0}});
  CHECK_THAT(now.complaint("act", {{"how", {{"speed", 0}}}}), has_text("params.how.speed"));
  CHECK_THAT(now.complaint("act", {{"how", Json::object()}}), has_text("params.how.speed"));
}

TEST_CASE(
    "an entry is silent about versions before its \"since\": a default and a function that came later are not there") {
  namespace older = rkllm_mcp::v0_since;
  namespace newer = rkllm_mcp::v1_since;
  const std::string_view then = older::kMethods[0].input_schema;
  const std::string_view now = newer::kMethods[0].input_schema;
  CHECK(then.find(R"("default":5)") == std::string_view::npos);
  CHECK(now.find(R"("default":5)") != std::string_view::npos);
  CHECK(older::kMethods[0].name == "act");
  CHECK(std::size(older::kMethods) == 1);
  CHECK(std::size(newer::kMethods) == 2);
  REQUIRE(older::kAbiSet.elsewhere.size() == 1);
  CHECK(older::kAbiSet.elsewhere[0].name == "say");
  CHECK(older::kAbiSet.elsewhere[0].versions == "1.since");
}

}  // namespace bindgen::test::since
