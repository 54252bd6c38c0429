#include "expected.hpp"

#include "golden_caller.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>

namespace rkllm_mcp::v1_changed {

using namespace bindgen::test;

TEST_CASE("what a function writes into what it is given is told, and what it left there is freed") {
  static int kept = 0;
  GoldenCaller caller(kAbiSet, {{"load", symbol(+[](network* net) {
                                   *net = 7;
                                   return 0;
                                 })},
                                {"outputs_get", symbol(+[](network net, uint32_t n, output* outputs) {
                                   if (net != 7 || outputs[0].index == 9) return -1;
                                   for (uint32_t i = 0; i < n; ++i) {
                                     outputs[i].size = outputs[i].wants_floats ? 4 : 1;
                                     outputs[i].buffer = std::calloc(1, outputs[i].size);
                                     std::memset(outputs[i].buffer, 'A' + static_cast<int>(outputs[i].index),
                                                 outputs[i].size);
                                     ++kept;
                                   }
                                   return 0;
                                 })},
                                {"outputs_release", symbol(+[](network, uint32_t n, output* outputs) {
                                   for (uint32_t i = 0; i < n; ++i) std::free(outputs[i].buffer);
                                   kept -= static_cast<int>(n);
                                   return 0;
                                 })},
                                {"fit", symbol(+[](box* area, box* around) {
                                   if (around == nullptr) return 0;
                                   area->width = std::min(area->width, around->width);
                                   around->x = 1;
                                   return 0;
                                 })},
                                {"sort", symbol(+[](int32_t* values, uint32_t n, const bool* keeps) {
                                   if (keeps == nullptr || !keeps[0]) std::sort(values, values + n);
                                   return 0;
                                 })},
                                {"reverse", symbol(+[](void* bytes, uint32_t n) {
                                   std::reverse(static_cast<char*>(bytes), static_cast<char*>(bytes) + n);
                                   return 0;
                                 })},
                                {"output_clear", symbol(+[](output*) {})},
                                {"load_with", symbol(+[](output*) { return network{}; })},
                                {"summarize", symbol(+[](output*) { return summary{}; })}});
  caller.call("load");
  CHECK(caller.call("outputs_get", {{"outputs", {{{"index", 2}}, {{"index", 1}, {"wants_floats", true}}}}}) ==
        Json{{"status", 0},
             {"outputs",
              {{{"index", 2}, {"wants_floats", false}, {"buffer", {67}}, {"size", 1}},
               {{"index", 1}, {"wants_floats", true}, {"buffer", {66, 66, 66, 66}}, {"size", 4}}}}});
  CHECK(kept == 0);
  CHECK_THAT(caller.complaint("outputs_get", {{"outputs", {{{"index", 9}}}}}), has_text("outputs_get"));
  // What the library leaves is nothing to give: it would be freed.
  CHECK_THAT(caller.complaint("outputs_get", {{"outputs", {{{"buffer", {1, 2}}}}}}),
             has_text("params.outputs[0].buffer"));
  CHECK_THAT(caller.complaint("outputs_get", {{"outputs", {{{"size", 2}}}}}), has_text("params.outputs[0].size"));
  CHECK(caller.call("fit", {{"area", {{"width", 5}}}, {"around", {{"width", 3}}}}) ==
        Json{{"status", 0}, {"area", {{"x", 0}, {"width", 3}}}, {"around", {{"x", 1}, {"width", 3}}}});
  CHECK(caller.call("fit", {{"area", {{"width", 5}}}}) ==
        Json{{"status", 0}, {"area", {{"x", 0}, {"width", 5}}}, {"around", nullptr}});
  CHECK(caller.call("sort", {{"values", {3, 1, 2}}}) == Json{{"status", 0}, {"values", {1, 2, 3}}});
  CHECK(caller.call("sort", {{"values", {3, 1}}, {"keeps", {true, true}}}).at("values") == Json{3, 1});
  CHECK_THAT(caller.complaint("sort", {{"values", {3, 1}}, {"keeps", {1, 0}}}), has_text("params.keeps[0]"));
  CHECK(caller.call("reverse", {{"bytes", {1, 2, 255}}}) == Json{{"status", 0}, {"bytes", {255, 2, 1}}});
}

TEST_CASE("what a function has left is freed once, also where the rest cannot be told") {
  static int kept = 0;
  static network made = 0;
  static const auto leave = [](output* in) {
    if (in == nullptr) return;
    in->size = 1;
    in->buffer = std::calloc(1, 1);
    static_cast<char*>(in->buffer)[0] = 'A';
    ++kept;
  };
  GoldenCaller caller(kAbiSet, {{"load", symbol(+[](network*) { return 0; })},
                                {"outputs_get", symbol(+[](network, uint32_t, output*) { return 0; })},
                                {"outputs_release", symbol(+[](network, uint32_t, output*) { return 0; })},
                                {"fit", symbol(+[](box*, box*) { return 0; })},
                                {"sort", symbol(+[](int32_t*, uint32_t, const bool*) { return 0; })},
                                {"reverse", symbol(+[](void*, uint32_t) { return 0; })},
                                {"output_clear", symbol(+[](output* which) {
                                   std::free(which->buffer);
                                   --kept;
                                 })},
                                {"load_with", symbol(+[](output* first) {
                                   if (made != 0) leave(first);
                                   return made;
                                 })},
                                {"summarize", symbol(+[](output* of) {
                                   static const float scores[] = {1, 2};
                                   leave(of);
                                   return summary{scores};
                                 })}});
  // No handle: the function has failed, and has left nothing.
  CHECK_THAT(caller.complaint("load_with", {{"first", Json::object()}}), has_text("gave no handle"));
  CHECK(kept == 0);
  made = 7;
  CHECK(caller.call("load_with", {{"first", {{"index", 2}}}}) ==
        Json{{"handle", "it-1"}, {"first", {{"index", 2}, {"wants_floats", false}, {"buffer", {65}}, {"size", 1}}}});
  CHECK(kept == 0);
  CHECK(caller.call("load_with") == Json{{"handle", "it-1"}, {"first", nullptr}});
  CHECK(kept == 0);
  CHECK_THAT(caller.complaint("summarize", {{"of", Json::object()}}), has_text("n_scores"));
  CHECK(kept == 0);
}

}  // namespace rkllm_mcp::v1_changed
