#include "expected.hpp"

#include "golden_caller.hpp"

#include <cstring>

namespace rkllm_mcp::v1_out_values {

using namespace bindgen::test;

TEST_CASE("what a function leaves where its parameters point is part of the reply") {
  GoldenCaller caller(
      kAbiSet,
      {{"measure", symbol(+[](int sensor, Reading* reading, uint32_t* count, Kind* kind, bool* is_on, float* share) {
          *reading = {21.5F, kCold};
          *count = 7;
          *kind = static_cast<Kind>(sensor);
          *is_on = true;
          *share = 0.5F;
          return sensor == 9 ? -1 : 0;
        })},
       {"name_of", symbol(+[](int sensor, char* name, uint32_t size) {
          std::memset(name, 'n', size);
          if (sensor != 0) std::strcpy(name, "abc");
          return 0;
        })},
       {"history", symbol(+[](int32_t* values, uint32_t n) {
          for (uint32_t i = 0; i < n; ++i) values[i] = static_cast<int32_t>(i) - 1;
        })}});
  CHECK(caller.call("measure", {{"sensor", 0}}) == Json{{"status", 0},
                                                        {"reading", {{"degrees", 21.5}, {"kind", "kCold"}}},
                                                        {"count", 7},
                                                        {"kind", "kWarm"},
                                                        {"is_on", true},
                                                        {"share", 0.5}});
  CHECK(caller.call("measure", {{"sensor", 5}}).at("kind") == 5);
  CHECK_THAT(caller.complaint("measure", {{"sensor", 9}}), has_text("-1"));
  CHECK_THAT(caller.complaint("measure", {{"sensor", 0}, {"count", 1}}), has_text("params.count"));
  CHECK(caller.call("name_of", {{"sensor", 1}}) == Json{{"status", 0}, {"name", "abc"}});
  CHECK(caller.call("name_of", {{"sensor", 0}, {"size", 3}}) == Json{{"status", 0}, {"name", "nnn"}});
  CHECK_THAT(caller.complaint("name_of", {{"sensor", 0}, {"size", 257}}), has_text("params.size"));
  CHECK(caller.call("history", {{"n", 3}}) == Json{{"values", {-1, 0, 1}}});
}

}  // namespace rkllm_mcp::v1_out_values
