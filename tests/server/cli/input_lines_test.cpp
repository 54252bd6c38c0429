#include "cli/input_lines.hpp"

#include "support/catch.hpp"

#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <string>
#include <string_view>
#include <system_error>
#include <thread>

using namespace rkllm_mcp;
using Event = InputLines::Event;

namespace {

constexpr std::chrono::milliseconds kInputLinesNow{0};
constexpr std::chrono::milliseconds kInputLinesForEver{-1};

// Standard input of this process is a pipe that the test writes to, until the scope is left.
class InputLinesPipe {
 public:
  InputLinesPipe() : kept_(::dup(STDIN_FILENO)) {
    std::array<int, 2> ends{};
    if (::pipe(ends.data()) != 0) throw std::system_error(errno, std::generic_category(), "pipe");
    ::dup2(ends[0], STDIN_FILENO);
    ::close(ends[0]);
    writer_ = ends[1];
  }
  InputLinesPipe(const InputLinesPipe&) = delete;
  InputLinesPipe& operator=(const InputLinesPipe&) = delete;
  ~InputLinesPipe() {
    end();
    if (kept_ < 0) {
      ::close(STDIN_FILENO);
      return;
    }
    ::dup2(kept_, STDIN_FILENO);
    ::close(kept_);
  }

  void put(std::string_view text) const {
    REQUIRE(::write(writer_, text.data(), text.size()) == static_cast<ssize_t>(text.size()));
  }
  void end() {
    if (writer_ >= 0) ::close(writer_);
    writer_ = -1;
  }

 private:
  const int kept_;
  int writer_ = -1;
};

void expect_line(InputLines& lines, const std::string& text) {
  std::string line = "from before";
  REQUIRE(lines.next(kInputLinesForEver, line) == Event::kLine);
  CHECK(line == text);
}

}  // namespace

TEST_CASE("lines of standard input come one by one, without their ends, empty ones and the unfinished last one too") {
  InputLinesPipe input;
  InputLines lines;
  input.put("first\n\nsecond\nlast");
  input.end();
  for (const char* const text : {"first", "", "second", "last"}) expect_line(lines, text);
  std::string line;
  CHECK(lines.next(kInputLinesForEver, line) == Event::kEnd);
  CHECK(lines.next(kInputLinesForEver, line) == Event::kEnd);
}

TEST_CASE("input that ends with the end of a line has no empty line behind it") {
  InputLinesPipe input;
  InputLines lines;
  input.put("only\n");
  input.end();
  expect_line(lines, "only");
  std::string line;
  CHECK(lines.next(kInputLinesForEver, line) == Event::kEnd);
}

TEST_CASE("a line of which only a part is there is silence, and whole when the rest has come") {
  const InputLinesPipe input;
  InputLines lines;
  std::string line;
  CHECK(lines.next(kInputLinesNow, line) == Event::kSilence);
  input.put("one\nbegin");
  expect_line(lines, "one");
  CHECK(lines.next(kInputLinesNow, line) == Event::kSilence);
  input.put("ning\nnext\n");
  expect_line(lines, "beginning");
  expect_line(lines, "next");
}

TEST_CASE("a line longer than one read comes whole") {
  InputLinesPipe input;
  InputLines lines;
  const std::string half(60000, 'x');
  std::string line;
  input.put(half);
  CHECK(lines.next(kInputLinesNow, line) == Event::kSilence);
  input.put(half + "\nshort\n");
  expect_line(lines, half + half);
  expect_line(lines, "short");
}

TEST_CASE("a wakeup holds until it is forgotten, however often it was asked for") {
  const InputLinesPipe input;
  InputLines lines;
  std::string line;
  lines.wake();
  lines.wake();
  CHECK(lines.next(kInputLinesForEver, line) == Event::kWoken);
  CHECK(lines.next(kInputLinesForEver, line) == Event::kWoken);
  lines.forget_wakeup();
  CHECK(lines.next(kInputLinesNow, line) == Event::kSilence);
  lines.forget_wakeup();  // of none
  lines.wake();
  CHECK(lines.next(kInputLinesForEver, line) == Event::kWoken);
}

TEST_CASE("a line that has been read goes before a wakeup, one that has not comes behind it and is not lost") {
  const InputLinesPipe input;
  InputLines lines;
  std::string line;
  input.put("first\nread with it\n");
  expect_line(lines, "first");
  input.put("not read\n");
  lines.wake();
  expect_line(lines, "read with it");
  CHECK(lines.next(kInputLinesForEver, line) == Event::kWoken);
  lines.forget_wakeup();
  expect_line(lines, "not read");
}

TEST_CASE("another thread ends a wait for a line that does not come") {
  const InputLinesPipe input;
  InputLines lines;
  std::thread other([&lines] { lines.wake(); });
  std::string line;
  const Event event = lines.next(kInputLinesForEver, line);
  other.join();
  CHECK(event == Event::kWoken);
}
