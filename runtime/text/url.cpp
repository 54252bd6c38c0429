#include "text/url.hpp"

#include "text/ip_address.hpp"

#include <rkllm_mcp/lower_case.hpp>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <stdexcept>
#include <vector>

namespace rkllm_mcp {
namespace {

constexpr std::size_t kLongestUrl = 8000;  // bytes, encoded; servers take no more
constexpr std::string_view kCapitalHexDigits = "0123456789ABCDEF";

bool is_letter_or_digit(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 && static_cast<unsigned char>(c) < 0x80;
}

void append_encoded(std::string& text, char c) {
  const auto byte = static_cast<unsigned char>(c);
  text += '%';
  text += kCapitalHexDigits[byte >> 4U];
  text += kCapitalHexDigits[byte & 0xfU];
}

bool is_hex(char c) { return std::isxdigit(static_cast<unsigned char>(c)) != 0; }

// Whether a percent sign with two hexadecimal digits stands at this place.
bool is_escape_at(std::string_view text, std::size_t at) {
  return text[at] == '%' && at + 2 < text.size() && is_hex(text[at + 1]) && is_hex(text[at + 2]);
}

// Path and query as a request line may have them; percent signs that begin no escape are escaped themselves.
std::string encoded_target(std::string_view text) {
  constexpr std::string_view kKept = "-._~!$&'()*+,;=:@/?[]";
  std::string encoded;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (is_escape_at(text, i) || is_letter_or_digit(c) || kKept.find(c) != std::string_view::npos) {
      encoded += c;
    } else {
      append_encoded(encoded, c);
    }
  }
  return encoded;
}

// As browsers take a reference: without spaces at its ends, tabs and line breaks nowhere.
std::string trimmed_reference(std::string_view text) {
  std::string trimmed;
  for (const char c : text) {
    if (c != '\t' && c != '\n' && c != '\r') trimmed += c;
  }
  const auto first = trimmed.find_first_not_of(' ');
  if (first == std::string::npos) return {};
  return trimmed.substr(first, trimmed.find_last_not_of(' ') - first + 1);
}

std::string parse_host(std::string_view text) {
  if (text.starts_with('[')) {
    if (!text.ends_with(']')) throw std::invalid_argument("the IPv6 address has no closing bracket");
    const auto address = text.substr(1, text.size() - 2);
    if (!IpAddress::parse(address) || address.find(':') == std::string_view::npos) {
      throw std::invalid_argument("there is no IPv6 address in the brackets");
    }
    return in_lower_case(address);
  }
  constexpr std::size_t kLongestHost = 253;
  if (text.empty()) throw std::invalid_argument("it names no host");
  if (text.size() > kLongestHost) throw std::invalid_argument("the host name is too long");
  for (const char c : text) {
    if (is_letter_or_digit(c) || c == '-' || c == '.' || c == '_') continue;
    throw std::invalid_argument(
        "a host name has letters, digits, hyphens and dots only; others are written in "
        "their ASCII form (xn--...)");
  }
  return in_lower_case(text);
}

std::uint16_t parse_port(std::string_view text) {
  std::uint16_t port = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), port);
  if (error != std::errc() || end != text.data() + text.size() || port == 0) {
    throw std::invalid_argument("a port is a number from 1 to 65535");
  }
  return port;
}

constexpr std::uint16_t usual_port(Url::Scheme scheme) { return scheme == Url::Scheme::kHttps ? 443 : 80; }

// Everything behind the scheme: "//host/path".
Url parse_behind_scheme(Url::Scheme scheme, std::string_view rest) {
  if (!rest.starts_with("//")) throw std::invalid_argument("expected // behind the scheme");
  rest.remove_prefix(2);
  const auto authority_end = std::min(rest.find_first_of("/?#\\"), rest.size());
  std::string_view authority = rest.substr(0, authority_end);
  std::string_view target = rest.substr(authority_end);
  if (authority.find('@') != std::string_view::npos)
    throw std::invalid_argument("it may hold no user name or password");
  if (target.starts_with('\\')) throw std::invalid_argument("it has a backslash");
  Url url;
  url.scheme = scheme;
  url.port = usual_port(scheme);
  const auto bracket = authority.rfind(']');
  const auto colon = authority.find(':', bracket == std::string_view::npos ? 0 : bracket);
  url.host = parse_host(authority.substr(0, colon));
  if (colon != std::string_view::npos && colon + 1 < authority.size())
    url.port = parse_port(authority.substr(colon + 1));
  target = target.substr(0, target.find('#'));
  url.target = encoded_target(target);
  if (!url.target.starts_with('/')) url.target.insert(0, 1, '/');
  if (url.target.size() > kLongestUrl) throw std::invalid_argument("it is longer than 8000 characters");
  return url;
}

// The length of "scheme:" at the beginning; 0 if there is none.
std::size_t scheme_length(std::string_view text) {
  const auto colon = text.find(':');
  if (colon == std::string_view::npos || colon == 0 || std::isalpha(static_cast<unsigned char>(text[0])) == 0) return 0;
  const bool is_scheme = std::ranges::all_of(
      text.substr(0, colon), [](char c) { return is_letter_or_digit(c) || c == '+' || c == '-' || c == '.'; });
  return is_scheme ? colon + 1 : 0;
}

// Without "." and ".." as steps (RFC 3986, 5.2.4).
std::string without_dots(std::string_view path) {
  std::vector<std::string_view> steps;
  bool ends_in_folder = false;
  for (std::size_t begin = 1; begin <= path.size();) {
    const auto end = std::min(path.find('/', begin), path.size());
    const auto step = path.substr(begin, end - begin);
    const bool is_last = end == path.size();
    if (step == "." || step == "..") {
      if (step == ".." && !steps.empty()) steps.pop_back();
      ends_in_folder = is_last;
    } else {
      steps.push_back(step);
    }
    begin = end + 1;
  }
  std::string clean;
  for (const auto step : steps) clean.append("/").append(step);
  if (ends_in_folder || clean.empty()) clean += '/';
  return clean;
}

// In queries a plus sign is a space.
enum class Plus { kItself, kSpace };

std::string decoded(std::string_view text, Plus plus) {
  std::string plain;
  for (std::size_t i = 0; i < text.size(); ++i) {
    unsigned byte = 0;
    if (is_escape_at(text, i)) {
      std::from_chars(text.data() + i + 1, text.data() + i + 3, byte, 16);
      plain += static_cast<char>(byte);
      i += 2;
    } else {
      plain += text[i] == '+' && plus == Plus::kSpace ? ' ' : text[i];
    }
  }
  return plain;
}

}  // namespace

std::string Url::authority() const {
  const std::string name = host.find(':') == std::string::npos ? host : "[" + host + "]";
  return port == usual_port(scheme) ? name : name + ":" + std::to_string(port);
}

std::string Url::text() const { return (scheme == Scheme::kHttps ? "https://" : "http://") + authority() + target; }

bool Url::has_origin_of(const Url& other) const {
  return scheme == other.scheme && host == other.host && port == other.port;
}

Url parse_url(std::string_view text) {
  const std::string trimmed = trimmed_reference(text);
  const std::size_t length = scheme_length(trimmed);
  const std::string scheme = in_lower_case(std::string_view(trimmed).substr(0, length));
  const auto rest = std::string_view(trimmed).substr(length);
  if (scheme == "http:") return parse_behind_scheme(Url::Scheme::kHttp, rest);
  if (scheme == "https:") return parse_behind_scheme(Url::Scheme::kHttps, rest);
  throw std::invalid_argument("expected an address that begins with http:// or https://");
}

std::optional<Url> resolve_url(const Url& base, std::string_view reference) {
  const std::string trimmed = trimmed_reference(reference);
  std::string_view rest(trimmed);
  try {
    if (scheme_length(rest) != 0) return parse_url(rest);
    if (rest.starts_with("//")) return parse_behind_scheme(base.scheme, rest);
    rest = rest.substr(0, rest.find('#'));
    Url url = base;
    if (rest.empty()) return url;
    const auto path = std::string_view(base.target).substr(0, base.target.find('?'));
    if (rest.starts_with('?')) {
      url.target = std::string(path) + encoded_target(rest);
    } else {
      const auto query = std::min(rest.find('?'), rest.size());
      const std::string folder =
          rest.starts_with('/') ? std::string() : std::string(path.substr(0, path.rfind('/') + 1));
      url.target = without_dots(folder + encoded_target(rest.substr(0, query))) + encoded_target(rest.substr(query));
    }
    return url.target.size() > kLongestUrl ? std::nullopt : std::optional(url);
  } catch (const std::invalid_argument&) {
    return std::nullopt;
  }
}

std::string encoded_for_query(std::string_view text) {
  std::string encoded;
  for (const char c : text) {
    if (is_letter_or_digit(c) || c == '-' || c == '.' || c == '_' || c == '~') {
      encoded += c;
    } else {
      append_encoded(encoded, c);
    }
  }
  return encoded;
}

std::string percent_decoded(std::string_view text) { return decoded(text, Plus::kItself); }

std::optional<std::string> strictly_percent_decoded(std::string_view text) {
  for (auto at = text.find('%'); at != std::string_view::npos; at = text.find('%', at + 1)) {
    if (!is_escape_at(text, at)) return std::nullopt;
  }
  return percent_decoded(text);
}

std::optional<std::string> query_value(std::string_view target, std::string_view name) {
  if (const auto mark = target.find('?'); mark != std::string_view::npos) target.remove_prefix(mark + 1);
  while (!target.empty()) {
    const auto end = std::min(target.find('&'), target.size());
    const auto pair = target.substr(0, end);
    const auto equals = std::min(pair.find('='), pair.size());
    if (decoded(pair.substr(0, equals), Plus::kSpace) == name) {
      return decoded(pair.substr(std::min(equals + 1, pair.size())), Plus::kSpace);
    }
    target.remove_prefix(std::min(end + 1, target.size()));
  }
  return std::nullopt;
}

std::string shown_address(std::string_view address) {
  constexpr std::string_view kAfterScheme = "://";
  const auto scheme = address.find(kAfterScheme);
  if (scheme == std::string_view::npos) return std::string(address);
  std::string_view rest = address.substr(scheme + kAfterScheme.size());
  // The last @ before the first slash ends it: a password may have an @ in it.
  const auto user_end = rest.substr(0, rest.find('/')).rfind('@');
  if (user_end != std::string_view::npos) rest.remove_prefix(user_end + 1);
  rest = rest.substr(0, rest.find('?'));
  return std::string(address.substr(0, scheme + kAfterScheme.size())).append(rest);
}

}  // namespace rkllm_mcp
