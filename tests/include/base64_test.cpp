#include "support/catch.hpp"

#include <rkllm_mcp/base64.hpp>

#include <cstring>

using namespace rkllm_mcp;

namespace {

std::string encoded(std::string_view text) { return encode_base64(text); }

std::string decoded(std::string_view text) {
  const auto bytes = decode_base64(text);
  REQUIRE(bytes);
  std::string result(bytes->size(), '\0');
  if (!bytes->empty()) std::memcpy(result.data(), bytes->data(), bytes->size());
  return result;
}

}  // namespace

TEST_CASE("base64 of the RFC's examples is that of the RFC") {
  const std::pair<std::string, std::string> examples[] = {{"", ""},
                                                          {"f", "Zg=="},
                                                          {"fo", "Zm8="},
                                                          {"foo", "Zm9v"},
                                                          {"foob", "Zm9vYg=="},
                                                          {"fooba", "Zm9vYmE="},
                                                          {"foobar", "Zm9vYmFy"}};
  for (const auto& [plain, text] : examples) {
    CHECK(encoded(plain) == text);
    CHECK(decoded(text) == plain);
  }
}

TEST_CASE("text that is no base64 is refused") {
  for (const char* text : {"Z", "Zg", "Zg=", "Zg===", "Z===", "====", "Zm9v\n", "Zm9_", "Zm=v", "Zh==", "Zm9="}) {
    INFO(text);
    CHECK_FALSE(decode_base64(text));
  }
}
