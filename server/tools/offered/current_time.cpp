#include "tools/offered_tool.hpp"
#include "tools/time_zone.hpp"

#include <rkllm_mcp/errors.hpp>

#include <time.h>

#include <array>
#include <cstdio>

namespace rkllm_mcp::offered {
namespace {

TimeZone::Local here_at(std::chrono::sys_seconds time) {
  const std::time_t seconds = std::chrono::system_clock::to_time_t(time);
  std::tm local{};
  if (::localtime_r(&seconds, &local) == nullptr) return {std::chrono::seconds(0), "UTC"};
  return {std::chrono::seconds(local.tm_gmtoff), local.tm_zone};
}

// "2026-03-05T07:08:09"
std::string date_and_time(std::chrono::sys_seconds time) {
  const auto day = std::chrono::floor<std::chrono::days>(time);
  const std::chrono::year_month_day date(day);
  const std::chrono::hh_mm_ss clock(time - day);
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%04d-%02u-%02uT%02d:%02d:%02d", static_cast<int>(date.year()),
                static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()),
                static_cast<int>(clock.hours().count()), static_cast<int>(clock.minutes().count()),
                static_cast<int>(clock.seconds().count()));
  return text.data();
}

// "+07:00"
std::string offset_text(std::chrono::seconds offset) {
  const auto minutes = std::chrono::duration_cast<std::chrono::minutes>(std::chrono::abs(offset)).count();
  std::array<char, 16> text{};
  std::snprintf(text.data(), text.size(), "%c%02d:%02d", offset.count() < 0 ? '-' : '+', static_cast<int>(minutes / 60),
                static_cast<int>(minutes % 60));
  return text.data();
}

}  // namespace

OfferedTool current_time(const ToolSurroundings& surroundings) {
  OfferedTool tool;
  tool.name = "current_time";
  tool.title = "The time now";
  tool.description = "The date, the day of the week and the time now, here or in another time zone.";
  tool.input_schema = Json{
      {"type", "object"},
      {"properties",
       {{"timezone",
         {{"type", "string"},
          {"maxLength", 64},
          {"description", "A zone's name, e.g. Asia/Ho_Chi_Minh or UTC; without it, the zone of this machine."}}}}}};
  const Json text{{"type", "string"}};
  tool.output_schema = Json{{"type", "object"},
                            {"properties",
                             {{"local", {{"type", "string"}, {"format", "date-time"}}},
                              {"utc", {{"type", "string"}, {"format", "date-time"}}},
                              {"unix", {{"type", "integer"}, {"description", "Seconds since 1970."}}},
                              {"weekday", text},
                              {"timezone", text},
                              {"abbreviation", text}}},
                            {"required", {"local", "utc", "unix", "weekday", "timezone", "abbreviation"}}};
  tool.run = [now = surroundings.now](const Json& arguments, ToolRun&) {
    constexpr std::array kDays{"Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"};
    const auto time = std::chrono::floor<std::chrono::seconds>(now());
    TimeZone::Local local;
    std::string name = "local";
    if (arguments.contains("timezone")) {
      name = arguments["timezone"].get<std::string>();
      const auto zone = TimeZone::find(name);
      if (!zone) {
        throw InvalidParams("params.arguments.timezone",
                            "this machine knows no time zone of that name; names look like Asia/Ho_Chi_Minh");
      }
      local = zone->at(time);
    } else {
      local = here_at(time);
    }
    const auto there = time + local.offset;
    const std::string weekday =
        kDays.at(std::chrono::weekday(std::chrono::floor<std::chrono::days>(there)).c_encoding());
    const std::string stamp = date_and_time(there) + offset_text(local.offset);
    return ToolAnswer{weekday + " " + stamp + " (" + local.abbreviation + ")",
                      Json{{"local", stamp},
                           {"utc", date_and_time(time) + "Z"},
                           {"unix", time.time_since_epoch().count()},
                           {"weekday", weekday},
                           {"timezone", name},
                           {"abbreviation", local.abbreviation}}};
  };
  return tool;
}

}  // namespace rkllm_mcp::offered
