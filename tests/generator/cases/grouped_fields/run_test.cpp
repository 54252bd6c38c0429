#include "expected.hpp"

#include "golden_caller.hpp"

namespace rkllm_mcp::v1_grouped_fields {

using namespace bindgen::test;

TEST_CASE("the fields of a group stand in an object of their own") {
  GoldenCaller caller(kAbiSet, {{"print", symbol(+[](Page* page) {
                                   const bool has_picture =
                                       page->n_points == 2 && page->width == 1 && page->points[1] == 4;
                                   return page->rest != 5 ? 9 : has_picture ? 0 : page->points == nullptr ? 1 : 8;
                                 })}});
  const Json picture{{"points", {3, 4}}, {"width", 1}};
  CHECK(caller.call("print", {{"page", {{"picture", picture}, {"rest", 5}}}}) == Json{{"status", 0}});
  CHECK_THAT(caller.complaint("print", {{"page", {{"rest", 5}}}}), has_text("1"));
  CHECK_THAT(caller.complaint("print", {{"page", {{"points", {3, 4}}}}}), has_text("params.page.points"));
  Page page{};
  CHECK(rkllm_mcp::encode(page) == Json{{"title", nullptr}, {"rest", 0}});
}

}  // namespace rkllm_mcp::v1_grouped_fields
