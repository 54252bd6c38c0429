#include "expected.hpp"

#include "golden_caller.hpp"

#include <cstring>

namespace rkllm_mcp::v1_out_filled {

using namespace bindgen::test;

TEST_CASE("of what a function fills in, as much is told as it says, and never more than there was room for") {
  static uint32_t says = 2;
  GoldenCaller caller(kAbiSet, {{"latest", symbol(+[](int32_t* values, uint32_t room, uint32_t* n) {
                                   for (uint32_t i = 0; i < room; ++i) values[i] = static_cast<int32_t>(i) + 1;
                                   *n = says;
                                   return 0;
                                 })},
                                {"weights_of", symbol(+[](float* weights, size_t* n) {
                                   weights[0] = static_cast<float>(*n);
                                   *n = 1;
                                   return 0;
                                 })},
                                {"receive", symbol(+[](void* data, uint32_t size) {
                                   if (size == 1) return -1;
                                   std::memcpy(data, "\x01\xFF", 2);
                                   return 2;
                                 })},
                                {"tell_name", symbol(+[](char name[16]) {
                                   std::memset(name, 'n', 16);
                                   return 0;
                                 })},
                                {"next_of", symbol(+[](uint64_t* number) {
                                   ++*number;
                                   return 0;
                                 })},
                                {"path_of", symbol(+[](const char** path) {
                                   *path = "/tmp/x";
                                   return 0;
                                 })}});
  CHECK(caller.call("latest") == Json{{"status", 0}, {"values", {1, 2}}, {"n", 2}});
  says = 99;
  CHECK(caller.call("latest", {{"room", 3}}) == Json{{"status", 0}, {"values", {1, 2, 3}}, {"n", 99}});
  says = 0;
  CHECK(caller.call("latest") == Json{{"status", 0}, {"values", Json::array()}, {"n", 0}});
  CHECK(caller.call("weights_of") == Json{{"status", 0}, {"weights", {4}}, {"n", 1}});
  CHECK(caller.call("weights_of", {{"n", 7}}).at("weights") == Json{7});
  CHECK_THAT(caller.complaint("weights_of", {{"n", 101}}), has_text("params.n"));
  CHECK(caller.call("receive", {{"size", 8}}) == Json{{"value", 2}, {"data", {1, 255}}});
  CHECK(caller.call("receive", {{"size", 1}}) == Json{{"value", -1}, {"data", Json::array()}});
  CHECK(caller.call("tell_name") == Json{{"status", 0}, {"name", std::string(16, 'n')}});
  CHECK(caller.call("next_of", {{"number", 41}}) == Json{{"status", 0}, {"number", 42}});
  CHECK_THAT(caller.complaint("next_of"), has_text("params.number") && has_text("required"));
  CHECK(caller.call("path_of") == Json{{"status", 0}, {"path", "/tmp/x"}});
}

}  // namespace rkllm_mcp::v1_out_filled
