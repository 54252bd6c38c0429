#include "memory/conversation.hpp"

#include "clock.hpp"
#include "text/url.hpp"

#include <array>
#include <chrono>
#include <cstdio>
#include <ctime>

namespace rkllm_mcp::memory {
namespace {

constexpr std::array<std::string_view, 4> kRoleNames{"user", "assistant", "system", "tool"};
constexpr std::string_view kAddress = "memory://conversation/";
constexpr std::string_view kSpaceQuery = "?space=";

}  // namespace

std::string_view name_of(Role role) { return kRoleNames.at(static_cast<std::size_t>(role)); }

std::optional<Role> role_named(std::string_view name) {
  for (std::size_t at = 0; at < kRoleNames.size(); ++at) {
    if (kRoleNames.at(at) == name) return static_cast<Role>(at);
  }
  return std::nullopt;
}

std::string timestamp_of(Milliseconds time) {
  constexpr Milliseconds kPerSecond = 1000;
  std::time_t seconds = time / kPerSecond;
  Milliseconds rest = time % kPerSecond;
  if (rest < 0) {
    rest += kPerSecond;
    --seconds;
  }
  std::tm parts{};
  ::gmtime_r(&seconds, &parts);
  std::array<char, 64> text{};
  const int length =
      std::snprintf(text.data(), text.size(), "%04d-%02d-%02dT%02d:%02d:%02d.%03dZ", parts.tm_year + 1900,
                    parts.tm_mon + 1, parts.tm_mday, parts.tm_hour, parts.tm_min, parts.tm_sec, static_cast<int>(rest));
  return {text.data(), static_cast<std::size_t>(length)};
}

std::optional<Milliseconds> time_of(std::string_view timestamp) {
  const std::string text(timestamp);
  std::tm parts{};
  int milliseconds = 0;
  int read = 0;
  if (std::sscanf(text.c_str(), "%4d-%2d-%2dT%2d:%2d:%2d%n", &parts.tm_year, &parts.tm_mon, &parts.tm_mday,
                  &parts.tm_hour, &parts.tm_min, &parts.tm_sec, &read) != 6) {
    return std::nullopt;
  }
  std::string_view rest = std::string_view(text).substr(static_cast<std::size_t>(read));
  if (rest.starts_with('.')) {
    rest.remove_prefix(1);
    int scale = 100;
    while (!rest.empty() && rest.front() >= '0' && rest.front() <= '9') {
      milliseconds += (rest.front() - '0') * scale;
      scale /= 10;
      rest.remove_prefix(1);
    }
  }
  if (rest != "Z") return std::nullopt;
  if (parts.tm_mon < 1 || parts.tm_mon > 12 || parts.tm_mday < 1 || parts.tm_mday > 31 || parts.tm_hour > 23 ||
      parts.tm_min > 59 || parts.tm_sec > 60 || parts.tm_hour < 0 || parts.tm_min < 0 || parts.tm_sec < 0) {
    return std::nullopt;
  }
  parts.tm_year -= 1900;
  parts.tm_mon -= 1;
  return static_cast<Milliseconds>(::timegm(&parts)) * 1000 + milliseconds;
}

Milliseconds now() {
  return std::chrono::duration_cast<std::chrono::milliseconds>(time_of_day().time_since_epoch()).count();
}

std::string uri_of(const Key& key, std::string_view own_space) {
  std::string uri = std::string(kAddress) + encoded_for_query(key.id);
  if (key.space != own_space) uri.append(kSpaceQuery).append(encoded_for_query(key.space));
  return uri;
}

std::optional<Key> key_of(std::string_view uri, std::string_view own_space) {
  if (!uri.starts_with(kAddress)) return std::nullopt;
  uri.remove_prefix(kAddress.size());
  const auto query = uri.find('?');
  std::optional<std::string> space = std::string(own_space);
  if (query != std::string_view::npos) {
    if (!uri.substr(query).starts_with(kSpaceQuery)) return std::nullopt;
    space = strictly_percent_decoded(uri.substr(query + kSpaceQuery.size()));
  }
  const auto id = strictly_percent_decoded(uri.substr(0, query));
  if (!id || id->empty() || !space) return std::nullopt;
  return Key{*space, *id};
}

}  // namespace rkllm_mcp::memory
