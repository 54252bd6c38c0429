#include "jsonrpc/envelope.hpp"

#include "support/catch.hpp"
#include "text/json_text.hpp"

#include <string>

using namespace rkllm_mcp;

namespace {

std::string utf8(char32_t point) {
  std::string bytes;
  if (point < 0x80) {
    bytes += static_cast<char>(point);
  } else if (point < 0x800) {
    bytes += static_cast<char>(0xC0 | (point >> 6));
    bytes += static_cast<char>(0x80 | (point & 0x3F));
  } else if (point < 0x10000) {
    bytes += static_cast<char>(0xE0 | (point >> 12));
    bytes += static_cast<char>(0x80 | ((point >> 6) & 0x3F));
    bytes += static_cast<char>(0x80 | (point & 0x3F));
  } else {
    bytes += static_cast<char>(0xF0 | (point >> 18));
    bytes += static_cast<char>(0x80 | ((point >> 12) & 0x3F));
    bytes += static_cast<char>(0x80 | ((point >> 6) & 0x3F));
    bytes += static_cast<char>(0x80 | (point & 0x3F));
  }
  return bytes;
}

}  // namespace

TEST_CASE("escaping agrees with nlohmann_json on every code point") {
  std::size_t differing = 0;
  for (char32_t point = 0; point <= 0x10FFFF; ++point) {
    if (point >= 0xD800 && point <= 0xDFFF) continue;
    const std::string text = utf8(point);
    std::string mine;
    append_quoted(mine, text);
    if (mine != Json(text).dump()) ++differing;
  }
  CHECK(differing == 0);
}

TEST_CASE("a text is cut between characters so that its escaped form fits") {
  CHECK(prefix_that_escapes_into("hello", 3) == 3);
  CHECK(prefix_that_escapes_into("hello", 99) == 5);
  CHECK(prefix_that_escapes_into("\x01"
                                 "a",
                                 6) == 1);
  CHECK(prefix_that_escapes_into("\x01"
                                 "a",
                                 5) == 0);
  CHECK(prefix_that_escapes_into("a\n", 2) == 1);
  CHECK(prefix_that_escapes_into("a\xE4\xBD\xA0", 3) == 1);
  CHECK(prefix_that_escapes_into("a\xE4\xBD\xA0", 4) == 4);
  CHECK(prefix_that_escapes_into("", 0) == 0);
}

TEST_CASE("messages have the documented text") {
  CHECK(result_message("7", Json{{"status", 0}}) == R"({"jsonrpc":"2.0","id":7,"result":{"status":0}})");
  CHECK(result_message("\"a\"", "m", Json::object()) == R"({"jsonrpc":"2.0","id":"a","method":"m","result":{}})");
  CHECK(error_message("null", RpcError(ErrorCode::kParseError, "no")) ==
        R"({"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"no"}})");
  CHECK(
      error_message("1", unknown_handle("x", {"llm-1"})) ==
      R"({"jsonrpc":"2.0","id":1,"error":{"code":4002,"message":"no handle \"x\" exists; there are: llm-1","data":{"handles":["llm-1"]}}})");
  CHECK(notification_message("n", Json{{"a", "\n"}}) == R"({"jsonrpc":"2.0","method":"n","params":{"a":"\n"}})");
}

TEST_CASE("text that is not UTF-8 is packed with replacement characters instead of failing") {
  CHECK(result_message("1", Json{{"log", "\xFF"}}) ==
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"log\":\"\xEF\xBF\xBD\"}}");
}
