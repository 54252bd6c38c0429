#include "support/catch.hpp"

#include <rkllm_mcp/tensor.hpp>

#include <cmath>

using namespace rkllm_mcp;

namespace {

std::vector<float> read(const Json& json) { return floats_from_json(JsonReader(json, "x")); }

}  // namespace

TEST_CASE("a float is written with the shortest decimal that reads back as itself") {
  CHECK(number_to_json(0.9F).dump() == "0.9");
  CHECK(number_to_json(1.1F).dump() == "1.1");
  CHECK(number_to_json(0.0F).dump() == "0.0");
  CHECK(number_to_json(-2.0F).dump() == "-2.0");
  CHECK(number_to_json(3.4028235e38F).get<float>() == 3.4028235e38F);
  CHECK(number_to_json(1e-45F).get<float>() == 1e-45F);
  CHECK(number_to_json(std::nanf("")).is_null());
  CHECK(number_to_json(HUGE_VALF).is_null());
}

TEST_CASE("floats survive both encodings") {
  const std::vector<float> values = {0.0F, -1.5F, 0.1F, 3.4028235e38F, 1e-45F};
  CHECK(read(floats_to_json(values, ArrayEncoding::kJson)) == values);
  CHECK(read(floats_to_json(values, ArrayEncoding::kBase64)) == values);
}

TEST_CASE("base64 floats are little endian") {
  const std::vector<float> one = {1.0F};
  CHECK(floats_to_json(one, ArrayEncoding::kBase64) == Json::parse(R"({"base64":"AACAPw==","dtype":"float32"})"));
}

TEST_CASE("an array of floats that cannot be read is refused") {
  const char* documents[] = {
      "1",
      "null",
      "[\"1\"]",
      "[1e39]",
      "[null]",
      "{}",
      R"({"base64":"AACAPw=="})",
      R"({"dtype":"float32"})",
      R"({"base64":"AACAPw==","dtype":"float16"})",
      R"({"base64":"AACAPw==","dtype":"float32","more":1})",
      R"({"base64":"AACA","dtype":"float32"})",      // three bytes
      R"({"base64":"AADAfw==","dtype":"float32"})",  // NaN
      R"({"base64":"AACAfw==","dtype":"float32"})",  // infinity
      R"({"base64":7,"dtype":"float32"})",
  };
  for (const char* document : documents) {
    INFO(document);
    CHECK_THROWS_AS(read(Json::parse(document)), InvalidParams);
  }
}
