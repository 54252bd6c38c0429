#include "expected.hpp"

#include "golden_caller.hpp"

#include <string_view>

namespace rkllm_mcp::v1_whole_params {

using namespace bindgen::test;

namespace {

GoldenCaller caller_of_wholes() {
  return GoldenCaller(
      kAbiSet, {{"turn", symbol(+[](const float(*rows)[3], const char(*names)[8]) {
                   return rows[0][0] == 1 && rows[2][2] == 9 && std::string_view(names[2]) == "third" ? 0 : 1;
                 })},
                {"fill", symbol(+[](const Place* corners, const uint8_t* colour, const int32_t* dashes) {
                   const int last = dashes == nullptr ? 0 : dashes[1];
                   return corners[3].x == 4 && colour[2] == 255 ? last : -1;
                 })},
                {"unlock", symbol(+[](const char* key, const double* weights, const int32_t* ids) {
                   return std::string_view(key, 4) == "\x01\x02\x03\x04" && weights[2] == 0.5 && ids[2] == 7 ? 0 : 1;
                 })}});
}

}  // namespace

TEST_CASE("a parameter that is declared as an array is given all of its elements") {
  GoldenCaller caller = caller_of_wholes();
  const Json done{{"status", 0}};
  const Json rows = {{1, 2, 3}, {4, 5, 6}, {7, 8, 9}};
  const Json names = {"first", "second", "third"};
  const Json corners = {{{"x", 1}}, {{"x", 2}}, {{"x", 3}}, {{"x", 4}}};
  const Json colour = {0, 128, 255};
  CHECK(caller.call("turn", {{"rows", rows}, {"names", names}}) == done);
  CHECK(caller.call("fill", {{"corners", corners}, {"colour", colour}}) == done);
  CHECK(caller.call("fill", {{"corners", corners}, {"colour", colour}, {"dashes", nullptr}}) == done);
  CHECK_THAT(caller.complaint("fill", {{"corners", corners}, {"colour", colour}, {"dashes", {1, 9}}}), has_text("9"));
  const Json packed{{"base64", "AQIDBA=="}, {"dtype", "uint8"}};
  CHECK(caller.call("unlock", {{"key", packed}, {"weights", {0, 0, 0.5}}, {"ids", {5, 6, 7}}}) == done);
}

TEST_CASE("an array that is a parameter as a whole is given neither fewer elements nor more") {
  GoldenCaller caller = caller_of_wholes();
  const Json names = {"first", "second", "third"};
  const Json corners = {{{"x", 1}}, {{"x", 2}}, {{"x", 3}}, {{"x", 4}}};
  CHECK_THAT(caller.complaint("turn", {{"rows", {{1, 2, 3}, {4, 5, 6}}}, {"names", names}}),
             has_text("params.rows: expected 3 values, found 2"));
  CHECK_THAT(caller.complaint("turn", {{"rows", {{1, 2, 3}, {4, 5}, {7, 8, 9}}}, {"names", names}}),
             has_text("params.rows[1]: expected 3 values, found 2"));
  CHECK_THAT(caller.complaint("fill", {{"corners", Json::array({corners[0]})}, {"colour", {0, 0, 0}}}),
             has_text("params.corners: expected 4 values, found 1"));
  CHECK_THAT(caller.complaint("fill", {{"corners", corners}, {"colour", {0, 0, 0, 0}}}),
             has_text("params.colour: expected at most 3 values, found 4"));
  CHECK_THAT(caller.complaint("fill", {{"corners", corners}, {"colour", nullptr}}), has_text("params.colour"));
  CHECK_THAT(caller.complaint("fill", {{"corners", corners}, {"colour", {0, 0, 0}}, {"dashes", {1, 0}}}),
             has_text("params.dashes[1]"));
  const Json key = {1, 2, 3, 4};
  CHECK_THAT(caller.complaint("unlock", {{"key", key}, {"weights", {0, 0, 0}}, {"ids", {5}}}),
             has_text("params.ids: expected as many values as weights has, 3, found 1"));
}

}  // namespace rkllm_mcp::v1_whole_params
