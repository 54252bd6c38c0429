#include "expected.hpp"

#include "golden_caller.hpp"

#include <cmath>
#include <cstring>

namespace rkllm_mcp::v1_out_arrays {

using namespace bindgen::test;

TEST_CASE("arrays that a function fills in are told, whatever they consist of, and doubles keep all their digits") {
  static double seen = 0;
  GoldenCaller caller(kAbiSet,
                      {{"readings_of", symbol(+[](Reading* readings, uint32_t room, uint32_t* n) {
                          for (uint32_t i = 0; i < room; ++i) readings[i] = {0.1 + i, i == 0 ? kWarm : kCold};
                          *n = 2;
                          return 0;
                        })},
                       {"all_names", symbol(+[](const char** names, uint32_t) {
                          names[0] = "one";
                          return 0;
                        })},
                       {"labels_of", symbol(+[](char(*labels)[4]) {
                          std::memcpy(labels[0], "full", 4);
                          std::strcpy(labels[1], "no");
                          return 0;
                        })},
                       {"tell", symbol(+[](Kind* kinds, bool* are_on, double* exact) {
                          kinds[1] = kCold;
                          are_on[0] = true;
                          exact[0] = 0.1;
                          exact[1] = std::nan("");
                          return 0;
                        })},
                       {"matrix_of", symbol(+[](int32_t(*matrix)[3]) {
                          for (int i = 0; i < 6; ++i) matrix[i / 3][i % 3] = i;
                          return 0;
                        })},
                       {"weigh", symbol(+[](double weight, double factor, const double* all, uint32_t n, double* was) {
                          *was = seen;
                          seen = weight * factor + all[n - 1];
                          return 0;
                        })},
                       {"weight", symbol(+[] { return seen; })},
                       {"share", symbol(+[] { return 0.1F; })}});
  CHECK(caller.call("readings_of") ==
        Json{{"status", 0},
             {"readings", {{{"degrees", 0.1}, {"kind", "kWarm"}}, {{"degrees", 1.1}, {"kind", "kCold"}}}},
             {"n", 2}});
  CHECK(caller.call("all_names", {{"n", 2}}) == Json{{"status", 0}, {"names", {"one", nullptr}}});
  CHECK(caller.call("labels_of") == Json{{"status", 0}, {"labels", {"full", "no"}}});
  CHECK(caller.call("tell") ==
        Json{{"status", 0}, {"kinds", {"kWarm", "kCold"}}, {"are_on", {true, false}}, {"exact", {0.1, nullptr}}});
  CHECK(caller.call("matrix_of") == Json{{"status", 0}, {"matrix", {{0, 1, 2}, {3, 4, 5}}}});
  CHECK(caller.call("weigh", {{"weight", 1e200}, {"all", {1, 0.1}}}) == Json{{"status", 0}, {"was", 0.0}});
  CHECK(seen == 1e200 * 0.1 + 0.1);
  CHECK(caller.call("weigh", {{"weight", 0}, {"factor", 0}, {"all", {0.1}}}).at("was") == 1e199);
  CHECK(caller.call("weight") == Json{{"value", 0.1}});
  CHECK(caller.call("share") == Json{{"value", 0.1}});
  CHECK_THAT(caller.complaint("weigh", {{"weight", 1e301}, {"all", {1}}}), has_text("params.weight"));
  CHECK_THAT(caller.complaint("weigh", {{"weight", "1"}, {"all", {1}}}), has_text("params.weight"));
}

}  // namespace rkllm_mcp::v1_out_arrays
