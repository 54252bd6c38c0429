#include "log_tail.hpp"

#include "support/catch.hpp"

#include <string>
#include <vector>

using namespace rkllm_mcp;

namespace {

using TailLines = std::vector<std::string>;

}  // namespace

TEST_CASE("the lines of the log are kept without their ends, numbered from 1") {
  LogTail tail;
  CHECK(tail.from(1).first == 1);
  CHECK(tail.from(1).lines.empty());
  tail.add("one\n");
  tail.add("two\r\n");
  tail.add("");
  const auto all = tail.from(1);
  CHECK(all.first == 1);
  CHECK(all.lines == TailLines{"one", "two", ""});
}

TEST_CASE("who has seen lines asks for those behind them") {
  LogTail tail;
  for (const auto* line : {"one", "two", "three"}) tail.add(line);
  CHECK(tail.from(3).first == 3);
  CHECK(tail.from(3).lines == TailLines{"three"});
  CHECK(tail.from(4).first == 4);
  CHECK(tail.from(4).lines.empty());  // the next one to come
}

TEST_CASE("a number that no line has yet is one of an earlier start: all lines are new") {
  LogTail tail;
  for (const auto* line : {"one", "two"}) tail.add(line);
  CHECK(tail.from(4).first == 1);
  CHECK(tail.from(4).lines == TailLines{"one", "two"});
  CHECK(tail.from(0).first == 1);
}

TEST_CASE("of too many lines the oldest go, and the others keep their numbers") {
  LogTail tail;
  for (std::size_t line = 1; line <= LogTail::kMostLines; ++line) tail.add(std::to_string(line));
  CHECK(tail.from(1).first == 1);
  tail.add("the last");
  const auto all = tail.from(1);
  CHECK(all.first == 2);
  CHECK(all.lines.size() == LogTail::kMostLines);
  CHECK(all.lines.front() == "2");
  CHECK(all.lines.back() == "the last");
}

TEST_CASE("lines that are long go sooner, and one that is too long is cut") {
  LogTail tail;
  tail.add("first");
  tail.add(std::string(LogTail::kLongestLine + 1, 'x'));
  CHECK(tail.from(2).lines.at(0).size() == LogTail::kLongestLine);
  const std::size_t fitting = LogTail::kMostBytes / LogTail::kLongestLine;
  for (std::size_t line = 1; line < fitting; ++line) tail.add(std::string(LogTail::kLongestLine, 'y'));
  const auto all = tail.from(1);
  CHECK(all.first == 2);  // "first" alone was too much
  CHECK(all.lines.size() == fitting);
}
