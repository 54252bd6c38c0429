#include "server/tools/tool_bench.hpp"
#include "support/catch.hpp"
#include "tools/time_zone.hpp"

using namespace rkllm_mcp;
using namespace rkllm_mcp::test;
using namespace std::chrono_literals;

namespace {

std::chrono::sys_seconds utc(int year, unsigned month, unsigned day, int hour) {
  return std::chrono::sys_days(std::chrono::year(year) / static_cast<int>(month) / static_cast<int>(day)) +
         std::chrono::hours(hour);
}

// A file as RFC 8536 has it: one kind of time, and a rule for what follows.
std::string file_with_rule(const std::string& rule) {
  const auto header = [](char version) {
    std::string text = std::string("TZif") + version + std::string(15, '\0');
    for (const char count : {'\0', '\0', '\0', '\0', '\1', '\4'}) text += std::string(3, '\0') + count;
    return text;
  };
  const std::string kind(6, '\0');
  const std::string body = kind + std::string("UTC\0", 4);
  return header('2') + body + header('2') + body + "\n" + rule + "\n";
}

std::string at(const std::string& rule, std::chrono::sys_seconds time) {
  const auto zone = TimeZone::read(file_with_rule(rule));
  REQUIRE(zone);
  const auto local = zone->at(time);
  return std::to_string(local.offset.count() / 60) + " " + local.abbreviation;
}

}  // namespace

TEST_CASE("rules of time zones say when summer begins and ends") {
  const std::string berlin = "CET-1CEST,M3.5.0,M10.5.0/3";
  CHECK(at(berlin, utc(2040, 3, 25, 0)) == "60 CET");
  CHECK(at(berlin, utc(2040, 3, 25, 1)) == "120 CEST");
  CHECK(at(berlin, utc(2040, 10, 28, 0)) == "120 CEST");
  CHECK(at(berlin, utc(2040, 10, 28, 1)) == "60 CET");
  const std::string sydney = "AEST-10AEDT,M10.1.0,M4.1.0/3";
  CHECK(at(sydney, utc(2040, 1, 1, 0)) == "660 AEDT");
  CHECK(at(sydney, utc(2040, 7, 1, 0)) == "600 AEST");
  CHECK(at("<+07>-7", utc(2040, 7, 1, 0)) == "420 +07");
  CHECK(at("<-03>3<-02>,J60/0,J300/0", utc(2040, 3, 1, 3)) == "-120 -02");
  CHECK(at("<-03>3<-02>,J60/0,J300/0", utc(2040, 3, 1, 2)) == "-180 -03");
  CHECK(at("IST-5:30", utc(2040, 3, 1, 2)) == "330 IST");
}

TEST_CASE("files that are no time zones are refused, however they are cut") {
  const std::string file = file_with_rule("CET-1CEST,M3.5.0,M10.5.0/3");
  for (std::size_t length = 0; length + 30 < file.size(); ++length) CHECK_FALSE(TimeZone::read(file.substr(0, length)));
  CHECK_FALSE(TimeZone::read(file_with_rule("CET-1CEST,M13.5.0,M10.5.0")));
  CHECK_FALSE(TimeZone::read(std::string(1000, 'x')));
  CHECK_FALSE(TimeZone::find("../../../etc/passwd"));
  CHECK_FALSE(TimeZone::find("/etc/passwd"));
  CHECK_FALSE(TimeZone::find(""));
  CHECK_FALSE(TimeZone::find("Nowhere/City"));
}

TEST_CASE("the time is told here and elsewhere") {
  ToolServer::Options options;
  options.wall_clock = [] { return std::chrono::system_clock::time_point(1'772'694'489s); };  // 2026-03-05 07:08:09
  ToolBench bench(Settings().tools, options);
  const Json time = bench.call("current_time", {{"timezone", "Asia/Ho_Chi_Minh"}});
  INFO(time.dump());
  CHECK(time["content"][0]["text"] == "Thursday 2026-03-05T14:08:09+07:00 (+07)");
  CHECK(time["structuredContent"] == Json{{"local", "2026-03-05T14:08:09+07:00"},
                                          {"utc", "2026-03-05T07:08:09Z"},
                                          {"unix", 1772694489},
                                          {"weekday", "Thursday"},
                                          {"timezone", "Asia/Ho_Chi_Minh"},
                                          {"abbreviation", "+07"}});
  CHECK(bench.call("current_time", {{"timezone", "America/New_York"}})["structuredContent"]["local"] ==
        "2026-03-05T02:08:09-05:00");
  CHECK(bench.call("current_time", {{"timezone", "America/New_York"}})["structuredContent"]["abbreviation"] == "EST");
  CHECK(bench.call("current_time", Json::object())["structuredContent"]["utc"] == "2026-03-05T07:08:09Z");
}
