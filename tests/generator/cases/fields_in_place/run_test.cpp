#include "expected.hpp"

#include "golden_caller.hpp"

#include <cstring>

namespace rkllm_mcp::v1_fields_in_place {

using namespace bindgen::test;

namespace {

Shape placed;

Json given() { return {{"name", "ab"}, {"dims", {2, 3}}, {"matrix", {{1, 2, 3}, {4, 5, 6}}}}; }

}  // namespace

TEST_CASE("texts, counted arrays and rows that lie in a struct are read and told") {
  GoldenCaller caller(kAbiSet, {{"place", symbol(+[](const Shape* shape) {
                                   placed = *shape;
                                   return 0;
                                 })},
                                {"where", symbol(+[](int, Shape* shape) {
                                   std::memset(shape, 0, sizeof *shape);
                                   std::memcpy(shape->name, "12345678", 8);
                                   shape->n_dims = 9;
                                   shape->dims[3] = 7;
                                   shape->matrix[1][2] = 0.5F;
                                   shape->raw[0] = '\xFF';
                                   return 0;
                                 })}});
  CHECK(caller.call("place", {{"shape", given()}}) == Json{{"status", 0}});
  CHECK(std::string(placed.name) == "ab");
  CHECK(placed.n_dims == 2);
  CHECK(placed.dims[1] == 3);
  CHECK(placed.dims[2] == 0);
  CHECK(placed.matrix[1][0] == 4.0F);
  CHECK(caller.call("where", {{"number", 1}}).at("shape") == Json{{"name", "12345678"},
                                                                  {"dims", {0, 0, 0, 7}},
                                                                  {"n_dims", 9},
                                                                  {"matrix", {{0, 0, 0}, {0, 0, 0.5}}},
                                                                  {"colour", {0, 0, 0}},
                                                                  {"raw", {255, 0}}});
}

TEST_CASE("what does not fit into a struct is refused with its path") {
  GoldenCaller caller(
      kAbiSet, {{"place", symbol(+[](const Shape*) { return 0; })}, {"where", symbol(+[](int, Shape*) { return 0; })}});
  const auto complaint = [&](const char* field, const Json& value) {
    Json shape = given();
    shape[field] = value;
    return caller.complaint("place", {{"shape", shape}});
  };
  CHECK_THAT(complaint("name", "12345678"), has_text("params.shape.name") && has_text("at most 7 bytes, found 8"));
  CHECK(complaint("name", "1234567") == "accepted");
  CHECK_THAT(complaint("dims", {1, 2, 3, 4, 5}), has_text("params.shape.dims") && has_text("at most 4"));
  CHECK_THAT(complaint("dims", {0}), has_text("params.shape.dims[0]"));
  CHECK_THAT(complaint("n_dims", 3), has_text("params.shape.dims") && has_text("expected 3 (n_dims)"));
  CHECK_THAT(complaint("matrix", {{1, 2, 3}}), has_text("params.shape.matrix") && has_text("expected 2 values"));
  CHECK_THAT(complaint("matrix", {{1, 2, 3}, {1, 2}}), has_text("params.shape.matrix[1]"));
  CHECK_THAT(complaint("matrix", nullptr), has_text("params.shape.matrix") && has_text("required"));
  CHECK_THAT(complaint("colour", {1, 2, 256}), has_text("params.shape.colour[2]"));
}

}  // namespace rkllm_mcp::v1_fields_in_place
