#include "transport/lines/line_framer.hpp"

#include "support/catch.hpp"

#include <string>
#include <string_view>

using rkllm_mcp::FirstBytes;

namespace {

// Whether all of `text` may pass, when it comes in pieces of `piece` bytes.
bool allows(std::string_view text, std::size_t piece) {
  FirstBytes guard;
  bool result = true;
  for (; !text.empty(); text.remove_prefix(std::min(piece, text.size()))) {
    std::string_view part = text.substr(0, piece);
    result = guard.allow(part);
  }
  return result;
}

}  // namespace

TEST_CASE("what begins like no message is known by its first byte, however it is cut") {
  for (const std::string text :
       {"POST / HTTP/1.1\r\n", "patch / HTTP/1.1\r\n\r\n{}\n", "FOO / HTTP/1.1", "PROPFIND /", "\r\n \tGET / HTTP/1.1",
        "\x16\x03\x01\x02", "hello\n", "1\n", "\"text\"\n", "\xEF\xBB\xBF{}\n", "}"}) {
    CAPTURE(text);
    for (std::size_t piece = 1; piece <= text.size(); ++piece) CHECK_FALSE(allows(text, piece));
  }
}

TEST_CASE("messages pass, whatever white space they begin with, and whatever follows them") {
  for (const std::string text :
       {"{\"method\":\"GET \"}\n", "[1]", " \t\r\n\n{}\n", "{}\nPOST / HTTP/1.1\r\n", "\n", "{"}) {
    CAPTURE(text);
    for (std::size_t piece = 1; piece <= text.size(); ++piece) CHECK(allows(text, piece));
  }
}

TEST_CASE("the white space that a connection begins with is dropped, and no other") {
  FirstBytes guard;
  std::string_view bytes = " \r\n\t";
  CHECK(guard.allow(bytes));
  CHECK(bytes.empty());
  bytes = "\n {} \n";
  CHECK(guard.allow(bytes));
  CHECK(bytes == "{} \n");
  bytes = " \n";
  CHECK(guard.allow(bytes));
  CHECK(bytes == " \n");
}
