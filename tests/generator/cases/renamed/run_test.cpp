#include "expected.hpp"

#include "golden_caller.hpp"

namespace bindgen::test::renamed {

TEST_CASE("a struct that has another name now knows the fields that it got under it") {
  namespace older = rkllm_mcp::v0_renamed;
  namespace newer = rkllm_mcp::v1_renamed;
  const Json to{{"x", 1}, {"y", 2}};
  GoldenCaller now(newer::kAbiSet,
                   {{"go", symbol(+[](const newer::Point* point) { return point->x + point->y - 3; })}});
  CHECK(now.call("go", {{"to", to}}) == Json{{"status", 0}});
  GoldenCaller then(older::kAbiSet, {{"go", symbol(+[](const older::Spot* spot) { return spot->x - 1; })}});
  CHECK(then.call("go", {{"to", {{"x", 1}}}}) == Json{{"status", 0}});
  CHECK_THAT(then.complaint("go", {{"to", to}}), has_text("params.to.y needs runtime 1.renamed"));
  CHECK_THAT(then.complaint("go", {{"to", {{"z", 2}}}}), has_text("params.to.z: unknown field"));
}

}  // namespace bindgen::test::renamed
