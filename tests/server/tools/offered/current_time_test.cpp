#include "server/tools/offered/offered_bench.hpp"
#include "support/catch.hpp"
#include "support/environment.hpp"
#include "support/refusal.hpp"

#include <rkllm_mcp/errors.hpp>

#include <time.h>

#include <chrono>
#include <cstdlib>
#include <string>

using namespace rkllm_mcp;
using namespace rkllm_mcp::test;
using namespace std::chrono_literals;

namespace {

// Seconds since 1970, or parts of them.
OfferedBench time_at(std::chrono::milliseconds since) {
  return OfferedBench("current_time", Settings().tools, std::chrono::system_clock::time_point(since));
}

// This machine's time zone while this lives.
struct MachineZone {
  explicit MachineZone(const std::string& rule) : variable("TZ", rule) { ::tzset(); }
  MachineZone(const MachineZone&) = delete;
  MachineZone& operator=(const MachineZone&) = delete;
  ~MachineZone() {
    ::unsetenv("TZ");
    ::tzset();
  }
  Environment variable;
};

}  // namespace

TEST_CASE("without a zone the time is told that this machine has") {
  const MachineZone zone("XYZ-5:30");
  auto bench = time_at(1'772'694'489s);
  const ToolAnswer answer = bench.run(Json::object());
  CHECK(answer.text == "Thursday 2026-03-05T12:38:09+05:30 (XYZ)");
  CHECK(answer.structured == Json{{"local", "2026-03-05T12:38:09+05:30"},
                                  {"utc", "2026-03-05T07:08:09Z"},
                                  {"unix", 1'772'694'489},
                                  {"weekday", "Thursday"},
                                  {"timezone", "local"},
                                  {"abbreviation", "XYZ"}});
}

TEST_CASE("west of Greenwich the offset has a minus, and the day of the week is the one that it is there") {
  auto bench = time_at(1'772'672'400s);  // Thursday 2026-03-05 01:00 UTC
  const Json there = bench.run({{"timezone", "America/St_Johns"}}).structured;
  CHECK(there["local"] == "2026-03-04T21:30:00-03:30");
  CHECK(there["weekday"] == "Wednesday");
  CHECK(there["timezone"] == "America/St_Johns");
  const MachineZone zone("ABC0:30");
  CHECK(bench.run(Json::object()).text == "Thursday 2026-03-05T00:30:00-00:30 (ABC)");
}

TEST_CASE("a second that has begun is not rounded up, and times before 1970 are told, too") {
  CHECK(time_at(1'999ms).run({{"timezone", "UTC"}}).text == "Thursday 1970-01-01T00:00:01+00:00 (UTC)");
  auto bench = time_at(-1ms);
  const Json before = bench.run({{"timezone", "UTC"}}).structured;
  CHECK(before["utc"] == "1969-12-31T23:59:59Z");
  CHECK(before["unix"] == -1);
  CHECK(before["weekday"] == "Wednesday");
}

TEST_CASE("a zone that this machine does not know is the caller's fault, and what names look like is said") {
  auto bench = time_at(0ms);
  for (const char* const name : {"Asia/Nowhere", "", "../etc/passwd", "asia"}) {
    const RpcError error = error_of([&] { bench.run({{"timezone", name}}); });
    CHECK(error.code() == ErrorCode::kInvalidParams);
    CHECK(error.data() == Json{{"path", "params.arguments.timezone"}});
    CHECK_THAT(error.what(), has_text("Asia/Ho_Chi_Minh"));
  }
  CHECK(bench.tool.reach == OfferedTool::Reach::kMachine);
  CHECK_FALSE(bench.tool.annotations.idempotent);
}
