#include "pattern.hpp"

#include <stdexcept>
#include <string_view>

namespace rkllm_mcp::test {
namespace {

constexpr std::string_view kMore = "$more";

bool is_stream_id(const std::string& text) {
  return text.size() >= 16 && text.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789") == std::string::npos;
}

bool is_of_kind(std::string_view kind, const Json& value) {
  if (kind == "$any") return true;
  if (kind == "$string") return value.is_string();
  if (kind == "$int") return value.is_number_integer();
  if (kind == "$number") return value.is_number();
  if (kind == "$bool") return value.is_boolean();
  if (kind == "$object") return value.is_object();
  if (kind == "$array") return value.is_array();
  if (kind == "$null") return value.is_null();
  if (kind == "$stream_id") return value.is_string() && is_stream_id(value.get_ref<const std::string&>());
  throw std::runtime_error("no such pattern: " + std::string(kind));
}

// A pattern that is a string beginning with '$'.
std::string string_mismatch(const std::string& pattern, const Json& value, Variables& variables,
                            const std::string& path) {
  const std::string complaint = path + ": expected " + pattern + ", found " + value.dump();
  const std::string rest = pattern.substr(std::min<std::size_t>(2, pattern.size()));
  if (pattern[1] == '^' || pattern[1] == '~') {
    if (!value.is_string()) return complaint;
    const auto found = value.get_ref<const std::string&>().find(rest);
    return (pattern[1] == '^' ? found == 0 : found != std::string::npos) ? "" : complaint;
  }
  const auto colon = pattern.find(':');
  if (!is_of_kind(std::string_view(pattern).substr(0, colon), value)) return complaint;
  if (colon != std::string::npos) variables[pattern.substr(colon + 1)] = value;
  return {};
}

std::string object_mismatch(const Json& pattern, const Json& value, Variables& variables, const std::string& path) {
  if (!value.is_object()) return path + ": expected an object, found " + value.dump();
  for (const auto& [name, expected] : pattern.items()) {
    if (name == kMore) continue;
    if (!value.contains(name)) return path + "." + name + ": is missing";
    if (auto complaint = unmatched(expected, value[name], variables, path + "." + name); !complaint.empty()) {
      return complaint;
    }
  }
  if (pattern.contains(kMore)) return {};
  for (const auto& [name, found] : value.items()) {
    if (!pattern.contains(name)) return path + "." + name + ": not expected, but found " + found.dump();
  }
  return {};
}

}  // namespace

std::string unmatched(const Json& pattern, const Json& value, Variables& variables, const std::string& path) {
  if (pattern.is_string() && pattern.get_ref<const std::string&>().starts_with('$')) {
    return string_mismatch(pattern.get<std::string>(), value, variables, path);
  }
  if (pattern.is_object()) return object_mismatch(pattern, value, variables, path);
  if (pattern.is_array() && value.is_array() && pattern.size() == value.size()) {
    for (std::size_t i = 0; i < pattern.size(); ++i) {
      const std::string place = path + "[" + std::to_string(i) + "]";
      if (auto complaint = unmatched(pattern[i], value[i], variables, place); !complaint.empty()) return complaint;
    }
    return {};
  }
  if (pattern == value) return {};
  return path + ": expected " + pattern.dump() + ", found " + value.dump();
}

std::string substitute(const std::string& text, const Variables& variables) {
  std::string result;
  std::size_t done = 0;
  for (auto start = text.find("${"); start != std::string::npos; start = text.find("${", done)) {
    const auto end = text.find('}', start);
    const std::string name = text.substr(start + 2, end - start - 2);
    const auto found = variables.find(name);
    if (found == variables.end()) throw std::runtime_error("${" + name + "} has no value here");
    const std::string value = found->second.dump();
    result.append(text, done, start - done);
    result += found->second.is_string() ? value.substr(1, value.size() - 2) : value;
    done = end + 1;
  }
  return result.append(text, done);
}

}  // namespace rkllm_mcp::test
