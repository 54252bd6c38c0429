#include "cli/people/log_line.hpp"

#include "support/catch.hpp"

#include <rkllm_mcp/json.hpp>

#include <string>

using namespace rkllm_mcp;

namespace {

Json record_of(const std::string& line) { return Json::parse(log_line_as_json(line)); }
Json message_only(const std::string& line) { return {{"time", nullptr}, {"level", nullptr}, {"message", line}}; }

}  // namespace

TEST_CASE("a line of a JSON log stays as it is, with whatever it has") {
  const std::string line = R"({"time":"2026-11-29T01:02:03.004Z","level":"info","message":"m","more":[1]})";
  CHECK(log_line_as_json(line) == line);
}

TEST_CASE("a line of a text log becomes time, level and message") {
  const Json record = record_of("2026-11-29 01:02:03.004 warning: a model: is slow");
  CHECK(record["level"] == "warning");
  CHECK(record["message"] == "a model: is slow");
  REQUIRE(record["time"].is_string());
  // Minutes and seconds are the same in most time zones; the hour is the machine's.
  CHECK_THAT(record["time"].get<std::string>(), test::has_text("03.004"));
}

TEST_CASE("a line that the log did not write has a message only") {
  for (const auto* line :
       {"I rkllm: loading the model", "", "{", "{\"a\":", "[1]", "2026-11-29 01:02:03.004", "2026-11-29 01:02:03.004 ",
        "2026-11-29 01:02:03.004 warning", "2026-11-29 01:02:03.004 loud: words", "2026-11-29T01:02:03.004 info: words",
        "2026-11-2x 01:02:03.004 info: words"}) {
    INFO(line);
    CHECK(record_of(line) == message_only(line));
  }
}

TEST_CASE("an empty message is one") { CHECK(record_of("2026-11-29 01:02:03.004 error: ")["message"] == ""); }

TEST_CASE("bytes that are no UTF-8 are replaced, and the line is still JSON") {
  const Json record = record_of("broken \xC3( text");
  CHECK_THAT(record["message"].get<std::string>(), test::has_text("broken \xEF\xBF\xBD"));
}
