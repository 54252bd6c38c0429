#include "expected.hpp"

#include "golden_caller.hpp"

namespace rkllm_mcp::v1_returned_object {

using namespace bindgen::test;

TEST_CASE("a returned struct is told, and freed by the function that the overlay names") {
  static About known{3, "library"};
  static int freed = 0;
  GoldenCaller caller(kAbiSet, {{"about", symbol(+[](int language) { return language == 0 ? nullptr : &known; })},
                                {"about_free", symbol(+[](About* about) { freed += about == &known ? 1 : 100; })},
                                {"about_always", symbol(+[] { return static_cast<const About*>(&known); })},
                                {"measure", symbol(+[] { return static_cast<Marks*>(nullptr); })},
                                {"marks_free", symbol(+[](Marks*) {})}});
  const Json told = {{"value", {{"version", 3}, {"name", "library"}}}};
  CHECK(caller.call("about", {{"language", 1}}) == told);
  CHECK(freed == 1);
  CHECK(caller.call("about", {{"language", 0}}) == Json{{"value", nullptr}});
  CHECK(freed == 1);
  CHECK(caller.call("about_always") == told);
  CHECK(freed == 1);
}

TEST_CASE("a returned struct is freed, too, if it could not be told") {
  static int freed = 0;
  static const int marks[] = {1, 2};
  static Marks measured{marks, 2};
  const auto nothing = symbol(+[] { return static_cast<const About*>(nullptr); });
  GoldenCaller caller(kAbiSet, {{"about", symbol(+[](int) { return static_cast<About*>(nullptr); })},
                                {"about_free", symbol(+[](About*) {})},
                                {"about_always", nothing},
                                {"measure", symbol(+[] { return &measured; })},
                                {"marks_free", symbol(+[](Marks* it) { freed += it == &measured ? 1 : 100; })}});
  CHECK_THAT(caller.complaint("measure"), has_text("columns"));
  CHECK(freed == 1);
}

}  // namespace rkllm_mcp::v1_returned_object
