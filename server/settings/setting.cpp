#include "settings/setting.hpp"

#include "text/url.hpp"

#include <algorithm>
#include <cctype>
#include <utility>

namespace rkllm_mcp {

std::string name_of(const Setting& setting) {
  std::string name(setting.section);
  if (!setting.key.empty()) name.append(".").append(setting.key);
  return name;
}

std::string variable_of(const Setting& setting) {
  std::string name = "RKLLM_MCP_" + name_of(setting);
  std::ranges::replace(name, '.', '_');
  std::ranges::transform(name, name.begin(), [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  return name;
}

std::string listed(std::span<const std::string_view> words) {
  std::string text;
  for (const std::string_view word : words) text.append(text.empty() ? "" : ", ").append(word);
  return text;
}

std::string expectation_of(const Setting& setting) {
  struct Visitor {
    std::string operator()(const BoolField&) const { return "true or false"; }
    std::string operator()(const IntegerField& field) const {
      std::string range = "an integer from " + std::to_string(field.min) + " to " + std::to_string(field.max);
      switch (field.unit) {
        case Unit::kNone:
        case Unit::kCount: return range;
        case Unit::kBytes: return range + " (bytes)";
        case Unit::kMilliseconds: return range + " (milliseconds)";
        case Unit::kSeconds: return range + " (seconds)";
        case Unit::kDays: return range + " (days)";
      }
      return range;
    }
    std::string operator()(const TextField& field) const {
      switch (field.form) {
        case TextField::Form::kIpAddress: return "an IP address such as 127.0.0.1 or ::1";
        case TextField::Form::kFileMode: return "three octal digits, perhaps with a 0 in front, such as 0660";
        case TextField::Form::kWebAddress: return "an address such as https://example.org/search";
        case TextField::Form::kWebAddressOrNone: return "an address such as https://example.org/search, or nothing";
        case TextField::Form::kAny: break;
      }
      return "a string";
    }
    std::string operator()(const ChoiceField& field) const { return "one of " + listed(field.words); }
    std::string operator()(const ListField& field) const {
      if (!field.words.empty()) return "an array of " + listed(field.words);
      return field.form == ListField::Form::kNetworks ? "an array of addresses or networks such as 192.168.1.0/24"
                                                      : "an array of strings";
    }
    std::string operator()(const NamedField& field) const { return "an object of " + std::string(field.what); }
    std::string operator()(const TextMapField&) const { return "an object of strings"; }
  };
  return std::visit(Visitor{}, setting.field);
}

std::vector<std::string> split_list(std::string_view text) {
  std::vector<std::string> words;
  while (!text.empty()) {
    const auto comma = text.find(',');
    std::string_view word = text.substr(0, comma);
    text.remove_prefix(comma == std::string_view::npos ? text.size() : comma + 1);
    while (word.starts_with(' ')) word.remove_prefix(1);
    while (word.ends_with(' ')) word.remove_suffix(1);
    if (!word.empty()) words.emplace_back(word);
  }
  return words;
}

void set_initial(const Setting& setting, Settings& settings) {
  struct Visitor {
    Settings& settings;
    void operator()(const BoolField& field) const { field.value.set(settings, field.initial); }
    void operator()(const IntegerField& field) const { field.value.set(settings, field.initial); }
    void operator()(const TextField& field) const { field.value.set(settings, std::string(field.initial)); }
    void operator()(const ChoiceField& field) const { field.value.set(settings, field.initial); }
    void operator()(const ListField& field) const { field.value.set(settings, split_list(field.initial)); }
    void operator()(const NamedField& field) const { field.value.set(settings, Json::parse(field.initial)); }
    void operator()(const TextMapField& field) const { field.value.set(settings, Json::parse(field.initial)); }
  };
  std::visit(Visitor{settings}, setting.field);
}

Json value_of(const Setting& setting, const Settings& settings) {
  struct Visitor {
    const Settings& settings;
    Json operator()(const BoolField& field) const { return field.value.get(settings); }
    Json operator()(const IntegerField& field) const { return field.value.get(settings); }
    Json operator()(const TextField& field) const { return field.value.get(settings); }
    Json operator()(const ChoiceField& field) const { return field.words[field.value.get(settings)]; }
    Json operator()(const ListField& field) const { return field.value.get(settings); }
    Json operator()(const NamedField& field) const { return field.value.get(settings); }
    Json operator()(const TextMapField& field) const { return field.value.get(settings); }
  };
  return std::visit(Visitor{settings}, setting.field);
}

namespace {

constexpr const char* kHidden = "********";

Json without_variables(Json servers) {
  for (Json& server : servers) {
    if (!server.contains("env")) continue;
    for (Json& value : server["env"]) value = kHidden;
  }
  return servers;
}

}  // namespace

Json shown_value(const Setting& setting, const Settings& settings) {
  Json value = value_of(setting, settings);
  switch (setting.secrecy) {
    case Secrecy::kPublic: break;
    case Secrecy::kSecret: return value == Json("") ? value : Json(kHidden);
    case Secrecy::kAddress: return shown_address(value.get<std::string>());
    case Secrecy::kVariables: return without_variables(std::move(value));
  }
  return value;
}

}  // namespace rkllm_mcp
