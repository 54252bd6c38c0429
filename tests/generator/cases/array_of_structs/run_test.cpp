#include "expected.hpp"

#include "golden_caller.hpp"

#include <cstring>

namespace rkllm_mcp::v1_array_of_structs {

using namespace bindgen::test;

namespace {

GoldenCaller caller() {
  return {kAbiSet,
          {{"draw", symbol(+[](const Line* line) {
              int sum = line->n_bends * 1000;
              for (uint32_t i = 0; i < line->n_points; ++i) sum += line->points[i].x + 10 * line->points[i].y;
              for (int i = 0; i < line->n_bends; ++i) sum += 100 * line->bends[i].x;
              return sum;
            })},
           {"dot", symbol(+[](const Point* points, size_t n) { return points == nullptr ? -1 : points[n - 1].y; })},
           {"name_all", symbol(+[](const char** names, int n) {
              return static_cast<int>(std::strlen(names[0]) * 10 + std::strlen(names[n - 1]));
            })},
           {"feed", symbol(+[](const void* data, uint32_t size) {
              return static_cast<int>(static_cast<const unsigned char*>(data)[size - 1]);
            })}}};
}

}  // namespace

TEST_CASE("arrays of structs, of texts and of bytes are counted by a field or a parameter") {
  auto with = caller();
  const Json points = {{{"x", 1}, {"y", 2}}, {{"x", 3}}};
  CHECK(with.call("draw", {{"line", {{"points", points}}}}) == Json{{"value", 24}});
  CHECK(with.call("draw", {{"line", {{"points", points}, {"bends", {{{"x", 5}}}}}}}) == Json{{"value", 1524}});
  CHECK(with.call("dot", {{"points", {{{"y", 7}}}}}) == Json{{"value", 7}});
  CHECK(with.call("dot") == Json{{"value", -1}});
  CHECK(with.call("name_all", {{"names", {"abc", "de"}}}) == Json{{"value", 32}});
  CHECK(with.call("feed", {{"data", {1, 200}}}) == Json{{"value", 200}});
  CHECK(with.call("feed", {{"data", {{"base64", "AQI="}, {"dtype", "uint8"}}}}) == Json{{"value", 2}});
}

TEST_CASE("what is wrong in an element is told with its place") {
  auto with = caller();
  CHECK_THAT(with.complaint("dot", {{"points", {{{"x", 1}}, {{"z", 1}}}}}), has_text("params.points[1].z"));
  CHECK_THAT(with.complaint("dot", {{"points", {1}}}), has_text("params.points[0]"));
  CHECK_THAT(with.complaint("dot", {{"points", Json::array()}}), has_text("not empty"));
  CHECK_THAT(with.complaint("dot", {{"points", {{{"x", 1}}}}, {"n", 2}}), has_text("params.points"));
  CHECK_THAT(with.complaint("name_all", {{"names", {"a", 1}}}), has_text("params.names[1]"));
  CHECK_THAT(
      with.complaint("draw", {{"line", {{"points", {{{"x", 1}}}}, {"bends", {{{"x", 1}}, {{"x", 1}}, {{"x", 1}}}}}}}),
      has_text("params.line.bends") && has_text("at most 2"));
}

TEST_CASE("a struct that holds such arrays is told with them") {
  const Point points[] = {{1, 2}};
  const Line line{points, 1, {{3, 4}, {5, 6}}, 1};
  CHECK(rkllm_mcp::encode(line) ==
        Json{{"points", {{{"x", 1}, {"y", 2}}}}, {"n_points", 1}, {"bends", {{{"x", 3}, {"y", 4}}}}, {"n_bends", 1}});
}

}  // namespace rkllm_mcp::v1_array_of_structs
