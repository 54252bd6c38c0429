#include "cli/help/progress_line.hpp"

#include "support/catch.hpp"

#include <optional>
#include <string>

using rkllm_mcp::fitted_progress;
using rkllm_mcp::shown_count;
using rkllm_mcp::shown_progress;
using rkllm_mcp::shown_time_left;

TEST_CASE("progress has a bar as full as what is done, and the percentage") {
  CHECK(shown_count(0, 300) == "[" + std::string(30, '.') + "] 0%  0 of 300");
  CHECK(shown_count(150, 300) == "[" + std::string(15, '#') + std::string(15, '.') + "] 50%  150 of 300");
  CHECK(shown_count(300, 300) == "[" + std::string(30, '#') + "] 100%  300 of 300");
}

TEST_CASE("a hundred percent are shown when all is done and not before") {
  CHECK_THAT(shown_count(999, 1000), rkllm_mcp::test::has_text("#.] 99%  999 of 1000"));
}

TEST_CASE("more than all, and less than nothing, fit into the bar") {
  CHECK(shown_count(7, 5) == "[" + std::string(30, '#') + "] 100%  7 of 5");
  CHECK(shown_count(-1, 5) == "[" + std::string(30, '.') + "] 0%  -1 of 5");
}

TEST_CASE("progress of bytes says them as people do, without a bar where nobody knows how many there are") {
  CHECK_THAT(shown_progress(1'200'000'000, 3'000'000'000), rkllm_mcp::test::has_text("] 40%  1.2 GB of 3.0 GB"));
  CHECK(shown_progress(1'200'000'000, std::nullopt) == "1.2 GB");
  CHECK(shown_progress(1'200'000'000, 0) == "1.2 GB");
}

TEST_CASE("a terminal that has room for it gets progress as it is, to the last column") {
  const std::string text = "loading  " + shown_count(1, 2);
  CHECK(fitted_progress(text, text.size()) == text);
  CHECK(fitted_progress(text, text.size() - 1) == "loading  50%  1 of 2");
}

TEST_CASE("a narrow terminal loses the bar first, then the last parts, then the end of the first") {
  const std::string text = "loading  " + shown_count(1, 2) + "  40 s left";
  CHECK(fitted_progress(text, 40) == "loading  50%  1 of 2  40 s left");
  CHECK(fitted_progress(text, 30) == "loading  50%  1 of 2");
  CHECK(fitted_progress(text, 19) == "loading  50%");
  CHECK(fitted_progress(text, 11) == "loading");
  CHECK(fitted_progress(text, 4) == "load");
  CHECK(fitted_progress(text, 0).empty());
}

TEST_CASE("room on a terminal is counted in characters, and none is cut in two") {
  const std::string text = "\xC3\xA4\xC3\xB6\xC3\xBC";  // three characters of two bytes
  CHECK(fitted_progress(text, 3) == text);
  CHECK(fitted_progress(text, 2) == "\xC3\xA4\xC3\xB6");
}

TEST_CASE("time that is left is told in seconds below two minutes, then in minutes that have not begun") {
  CHECK(shown_time_left(0.9) == "0 s left");
  CHECK(shown_time_left(40) == "40 s left");
  CHECK(shown_time_left(119.9) == "119 s left");
  CHECK(shown_time_left(120) == "2 min left");
  CHECK(shown_time_left(12.0 * 60 + 59) == "12 min left");
}
