#include "tools/time_zone.hpp"

#include "text/regular_file.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstddef>
#include <stdexcept>

namespace rkllm_mcp {
namespace {

using std::chrono::seconds;
using std::chrono::sys_days;
using std::chrono::sys_seconds;

// Takes numbers from the bytes of a file. What is not there throws std::out_of_range.
class ZoneBytes {
 public:
  explicit ZoneBytes(std::string_view all) : rest_(all) {}

  std::string_view take(std::size_t count) {
    if (count > rest_.size()) throw std::out_of_range("the file is too short");
    const auto taken = rest_.substr(0, count);
    rest_.remove_prefix(count);
    return taken;
  }
  std::uint64_t number(std::size_t bytes) {
    std::uint64_t value = 0;
    for (const char c : take(bytes)) value = (value << 8U) | static_cast<unsigned char>(c);
    return value;
  }
  std::string_view rest() const { return rest_; }

 private:
  std::string_view rest_;
};

struct ZoneCounts {
  std::size_t universal, standard, leaps, transitions, kinds, letters;

  std::size_t bytes(std::size_t time) const {
    return transitions * (time + 1) + kinds * 6 + letters + leaps * (time + 4) + standard + universal;
  }
};

ZoneCounts take_header(ZoneBytes& bytes) {
  if (bytes.take(4) != "TZif") throw std::out_of_range("no time zone");
  bytes.take(16);  // version and room for more
  std::array<std::size_t, 6> numbers{};
  for (auto& number : numbers) number = static_cast<std::size_t>(bytes.number(4));
  constexpr std::size_t kMost = 100'000;
  if (std::ranges::any_of(numbers, [](std::size_t number) { return number > kMost; })) {
    throw std::out_of_range("no time zone");
  }
  return {numbers[0], numbers[1], numbers[2], numbers[3], numbers[4], numbers[5]};
}

// The rule of the variable TZ: "CET-1CEST,M3.5.0,M10.5.0/3".
class ZoneRule {
 public:
  explicit ZoneRule(std::string_view text) : rest_(text) {
    standard_ = {seconds(0), name()};
    standard_.offset = -time();
    if (rest_.empty()) return;
    daylight_ = TimeZone::Local{standard_.offset + std::chrono::hours(1), name()};
    if (!rest_.empty() && rest_.front() != ',') daylight_->offset = -time();
    begin_ = change();
    end_ = change();
  }

  TimeZone::Local at(sys_seconds time) const {
    if (!daylight_) return standard_;
    const auto year =
        std::chrono::year_month_day(std::chrono::floor<std::chrono::days>(time + standard_.offset)).year();
    const auto begin = moment(begin_, year) - standard_.offset;
    const auto end = moment(end_, year) - daylight_->offset;
    // South of the equator summer goes on over the new year.
    const bool is_summer = begin < end ? begin <= time && time < end : time < end || begin <= time;
    return is_summer ? *daylight_ : standard_;
  }

 private:
  struct Change {
    char form = 'M';  // M month.week.day; J day of the year without the 29th of February; 0 with it
    int month = 0, week = 0, day = 0;
    seconds at{std::chrono::hours(2)};
  };

  [[noreturn]] static void fail() { throw std::out_of_range("no rule"); }

  bool take(char c) {
    if (!rest_.starts_with(c)) return false;
    rest_.remove_prefix(1);
    return true;
  }
  int number() {
    int value = 0;
    const std::size_t before = rest_.size();
    while (!rest_.empty() && std::isdigit(static_cast<unsigned char>(rest_.front())) != 0 && value < 1000) {
      value = value * 10 + (rest_.front() - '0');
      rest_.remove_prefix(1);
    }
    if (rest_.size() == before) fail();
    return value;
  }
  std::string name() {
    const bool is_quoted = take('<');
    std::size_t length = 0;
    while (length < rest_.size() &&
           (is_quoted ? rest_[length] != '>' : std::isalpha(static_cast<unsigned char>(rest_[length])) != 0)) {
      ++length;
    }
    std::string taken(rest_.substr(0, length));
    rest_.remove_prefix(length);
    if (is_quoted && !take('>')) fail();
    return taken;
  }
  seconds time() {  // [+-]hh[:mm[:ss]]
    const bool is_negative = take('-');
    if (!is_negative) take('+');
    seconds value = std::chrono::hours(number());
    if (take(':')) value += std::chrono::minutes(number());
    if (take(':')) value += seconds(number());
    return is_negative ? -value : value;
  }
  Change change() {
    if (!take(',')) fail();
    Change change;
    if (take('M')) {
      change.month = number();
      if (!take('.')) fail();
      change.week = number();
      if (!take('.')) fail();
      change.day = number();
      if (change.month < 1 || change.month > 12 || change.week < 1 || change.week > 5 || change.day > 6) fail();
    } else {
      change.form = take('J') ? 'J' : '0';
      change.day = number();
    }
    if (take('/')) change.at = time();
    return change;
  }

  // The moment of the change, in the local time that is in use just before it.
  static sys_seconds moment(const Change& change, std::chrono::year year) {
    using namespace std::chrono;
    const sys_days new_year = year / January / 1;
    sys_days day = new_year;
    if (change.form == 'M') {
      const auto month_of_change = year / month(static_cast<unsigned>(change.month));
      const weekday wanted(static_cast<unsigned>(change.day));
      constexpr int kLast = 5;
      day = change.week == kLast ? sys_days(month_of_change / wanted[last])
                                 : sys_days(month_of_change / wanted[static_cast<unsigned>(change.week)]);
    } else if (change.form == 'J') {
      constexpr int kFirstOfMarch = 60;
      day = new_year + days(change.day - 1 + (year.is_leap() && change.day >= kFirstOfMarch ? 1 : 0));
    } else {
      day = new_year + days(change.day);
    }
    return day + change.at;
  }

  std::string_view rest_;
  TimeZone::Local standard_{};
  std::optional<TimeZone::Local> daylight_;
  Change begin_, end_;
};

bool is_zone_name(std::string_view name) {
  constexpr std::size_t kLongest = 64;
  if (name.empty() || name.size() > kLongest || name.front() == '/' || name.find("..") != std::string_view::npos) {
    return false;
  }
  return std::ranges::all_of(
      name, [](unsigned char c) { return std::isalnum(c) != 0 || c == '/' || c == '_' || c == '-' || c == '+'; });
}

}  // namespace

std::optional<TimeZone> TimeZone::find(std::string_view name, const std::string& folder) {
  if (!is_zone_name(name)) return std::nullopt;
  constexpr std::size_t kLargest = std::size_t{256} << 10U;
  try {
    return read(read_regular_file(folder + "/" + std::string(name), kLargest));
  } catch (const std::runtime_error&) {
    return std::nullopt;
  }
}

std::optional<TimeZone> TimeZone::read(std::string_view file) {
  try {
    ZoneBytes bytes(file);
    constexpr std::size_t kOldTime = 4;
    constexpr std::size_t kTime = 8;
    constexpr std::size_t kVersionAt = 4;
    if (file.size() <= kVersionAt || file[kVersionAt] < '2') return std::nullopt;
    bytes.take(take_header(bytes).bytes(kOldTime));  // the part with 32-bit times, for programs of long ago
    const ZoneCounts counts = take_header(bytes);
    TimeZone zone;
    for (std::size_t i = 0; i < counts.transitions; ++i) {
      zone.transitions_.push_back({static_cast<std::int64_t>(bytes.number(kTime)), 0});
    }
    for (auto& transition : zone.transitions_) transition.kind = static_cast<std::size_t>(bytes.number(1));
    std::vector<std::size_t> names;
    for (std::size_t i = 0; i < counts.kinds; ++i) {
      zone.kinds_.push_back({seconds(static_cast<std::int32_t>(bytes.number(4))), {}});
      bytes.take(1);
      names.push_back(static_cast<std::size_t>(bytes.number(1)));
    }
    const auto letters = bytes.take(counts.letters);
    for (std::size_t i = 0; i < counts.kinds; ++i) {
      const auto name = letters.substr(names[i]);
      zone.kinds_[i].abbreviation = name.substr(0, name.find('\0'));
    }
    if (zone.kinds_.empty()) return std::nullopt;
    const auto is_known = [&zone](const auto& transition) { return transition.kind < zone.kinds_.size(); };
    if (!std::ranges::all_of(zone.transitions_, is_known)) return std::nullopt;
    bytes.take(counts.leaps * (kTime + 4) + counts.standard + counts.universal);
    const auto rest = bytes.rest();
    if (rest.starts_with('\n')) zone.rule_ = rest.substr(1, rest.find('\n', 1) - 1);
    if (!zone.rule_.empty()) ZoneRule(zone.rule_).at(sys_seconds());
    return zone;
  } catch (const std::out_of_range&) {
    return std::nullopt;
  }
}

TimeZone::Local TimeZone::at(sys_seconds time) const {
  const auto number = time.time_since_epoch().count();
  const auto later = std::ranges::upper_bound(transitions_, number, {}, &Transition::from);
  if (later == transitions_.end() && !rule_.empty()) return ZoneRule(rule_).at(time);
  return later == transitions_.begin() ? kinds_.front() : kinds_[(later - 1)->kind];
}

}  // namespace rkllm_mcp
