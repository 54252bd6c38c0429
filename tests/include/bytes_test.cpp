#include "support/catch.hpp"

#include <rkllm_mcp/bytes.hpp>
#include <rkllm_mcp/codec.hpp>

#include <string>
#include <vector>

using namespace rkllm_mcp;

namespace {

std::string bytes_in(const Json& json) {
  const std::vector<char> bytes = bytes_from_json(JsonReader(json, "x"));
  return {bytes.begin(), bytes.end()};
}

struct Blob {
  const char* data;
  int size;
};

template <class Codec>
void members(Codec& codec, Of<Codec, Blob>& value) {
  codec.array("data", value.data, counted_by("size", value.size));
}

}  // namespace

TEST_CASE("bytes survive both encodings, whatever sign char has") {
  const std::string all{'\0', '\x7f', '\x80', '\xff'};
  CHECK(bytes_to_json(all, ArrayEncoding::kJson) == Json{0, 127, 128, 255});
  CHECK(bytes_to_json(all, ArrayEncoding::kBase64) == Json{{"base64", "AH+A/w=="}, {"dtype", "uint8"}});
  CHECK(bytes_in(bytes_to_json(all, ArrayEncoding::kJson)) == all);
  CHECK(bytes_in(bytes_to_json(all, ArrayEncoding::kBase64)) == all);
}

TEST_CASE("bytes that cannot be read are refused") {
  const char* documents[] = {
      "1",
      "\"text\"",
      "[256]",
      "[-1]",
      "[0.5]",
      "{}",
      R"({"base64":"AA=="})",
      R"({"base64":"AA==","dtype":"float32"})",
      R"({"base64":"AA","dtype":"uint8"})",
      R"({"base64":"AA==","dtype":"uint8","more":1})",
  };
  for (const char* document : documents) {
    INFO(document);
    CHECK_THROWS_AS(bytes_in(Json::parse(document)), InvalidParams);
  }
}

TEST_CASE("an array of bytes in a struct is written and counted like any other") {
  const char data[] = {'a', '\xe9'};
  CHECK(encode(Blob{data, 2}) == Json{{"data", {97, 233}}, {"size", 2}});
  CHECK(encode(Blob{nullptr, 0}) == Json{{"data", nullptr}, {"size", 0}});
}
