#include "transport/lines/line_framer.hpp"

#include "support/catch.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

using namespace rkllm_mcp;

namespace {

// What a framer with a limit of 10 makes of the pieces: lines, and "!" with the counted bytes for oversized ones.
std::vector<std::string> frame(const std::vector<std::string>& pieces) {
  std::vector<std::string> lines;
  const auto receive = [&lines](const std::optional<Received>& received) {
    if (!received) return;
    if (const auto* oversized = std::get_if<Oversized>(&*received)) {
      CHECK(oversized->limit == 10);
      lines.push_back("!" + std::to_string(oversized->bytes));
    } else {
      lines.emplace_back(std::get<std::string_view>(*received));
    }
  };
  LineFramer framer(10);
  for (const std::string_view piece : pieces) {
    for (std::string_view rest = piece; !rest.empty();) receive(framer.next(rest));
  }
  receive(framer.finish());
  return lines;
}

std::vector<std::string> bytewise(const std::string& text) {
  std::vector<std::string> pieces;
  for (const char c : text) pieces.emplace_back(1, c);
  return pieces;
}

using Lines = std::vector<std::string>;

}  // namespace

TEST_CASE("lines end with LF or CR LF, however they are cut") {
  const std::string text = "one\ntwo\r\n\n\r\nthree\n";
  CHECK(frame({text}) == Lines{"one", "two", "three"});
  CHECK(frame(bytewise(text)) == Lines{"one", "two", "three"});
  for (std::size_t split = 0; split <= text.size(); ++split) {
    CHECK(frame({text.substr(0, split), text.substr(split)}) == Lines{"one", "two", "three"});
  }
}

TEST_CASE("an unfinished line at the end of the input is a line") {
  CHECK(frame({"one\ntwo"}) == Lines{"one", "two"});
  CHECK(frame({"one\n"}) == Lines{"one"});
  CHECK(frame({"one\r"}) == Lines{"one"});
  CHECK(frame({}).empty());
}

TEST_CASE("a line at the limit passes and one beyond it is reported once and skipped") {
  CHECK(frame({"0123456789\nnext\n"}) == Lines{"0123456789", "next"});
  CHECK(frame({"0123456789\r\nnext\n"}) == Lines{"0123456789", "next"});
  CHECK(frame({"01234567890\nnext\n"}) == Lines{"!11", "next"});
  CHECK(frame(bytewise("0123456789\r\nnext\n")) == Lines{"0123456789", "next"});
  CHECK(frame(bytewise("01234567890\nnext\n")) == Lines{"!11", "next"});
  CHECK(frame({std::string(50, 'x'), std::string(50, 'x'), "\nnext\n"}) == Lines{"!50", "next"});
  CHECK(frame({std::string(50, 'x')}) == Lines{"!50"});
}

TEST_CASE("a line may hold any byte but LF") {
  const std::string line("\0\xFF\r x", 5);
  CHECK(frame({line + "\n"}) == Lines{line});
}

TEST_CASE("one line is given at a time, and is over when it has been given") {
  LineFramer framer(10);
  std::string_view first = "on";
  CHECK_FALSE(framer.next(first));
  CHECK(framer.is_inside());
  std::string_view second = "e\n\ntwo\nth";
  const auto line = framer.next(second);
  REQUIRE(line);
  CHECK(std::get<std::string_view>(*line) == "one");
  CHECK(second == "\ntwo\nth");
  CHECK_FALSE(framer.is_inside());
  framer.release();
  CHECK_FALSE(framer.next(second));  // an empty line is nothing
  const auto next = framer.next(second);
  REQUIRE(next);
  CHECK(std::get<std::string_view>(*next) == "two");
  CHECK_FALSE(framer.next(second));
  CHECK(second.empty());
  CHECK(framer.is_inside());
}
