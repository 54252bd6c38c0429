#include "expected.hpp"

#include "golden_caller.hpp"

namespace rkllm_mcp::v1_one_count {

using namespace bindgen::test;

namespace {

int pair_of(const float* a, const float* b, int n) {
  return (a != nullptr) == (n != 0) && (b != nullptr) == (n != 0) ? 0 : 1;
}
int weighted_of(const float* weights, const float* values, int n) {
  return values != nullptr && n == 2 && (weights == nullptr || weights[1] > 0) ? 0 : 1;
}

}  // namespace

TEST_CASE("what counts two arrays that may both be NULL counts neither if one is") {
  GoldenCaller caller(kAbiSet, {{"put_pair", symbol(&pair_of)}, {"put_weighted", symbol(&weighted_of)}});
  const Json done{{"status", 0}};
  CHECK(caller.call("put_pair") == done);
  CHECK(caller.call("put_pair", {{"a", {1, 2}}, {"b", {3, 4}}}) == done);
  CHECK(caller.call("put_pair", {{"n", 0}}) == done);
  const std::string absent = ": expected array, found nothing: n counts it, too, and is 3";
  CHECK_THAT(caller.complaint("put_pair", {{"b", {1, 2, 3}}}), has_text("params.a" + absent));
  CHECK_THAT(caller.complaint("put_pair", {{"a", {1, 2, 3}}, {"b", nullptr}}), has_text("params.b" + absent));
  CHECK_THAT(caller.complaint("put_pair", {{"n", 3}}), has_text("params.n: expected 0 or nothing"));
  CHECK_THAT(caller.complaint("put_pair", {{"n", 3}, {"b", {1, 2, 3}}}), has_text("params."));
}

TEST_CASE("an array that may be NULL is left out beside one that must be given, whose elements are counted") {
  GoldenCaller caller(kAbiSet, {{"put_pair", symbol(&pair_of)}, {"put_weighted", symbol(&weighted_of)}});
  const Json done{{"status", 0}};
  CHECK(caller.call("put_weighted", {{"values", {1, 2}}}) == done);
  CHECK(caller.call("put_weighted", {{"values", {1, 2}}, {"n", 2}}) == done);
  CHECK(caller.call("put_weighted", {{"values", {1, 2}}, {"weights", {1, 2}}}) == done);
  CHECK_THAT(caller.complaint("put_weighted", {{"values", {1, 2}}, {"weights", {1}}}), has_text("params.values"));
  CHECK_THAT(caller.complaint("put_weighted", {{"n", 2}}), has_text("params.values: expected array"));
}

}  // namespace rkllm_mcp::v1_one_count
