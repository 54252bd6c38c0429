// One value that is given for a setting, checked and stored (setting.hpp).
#include "settings/setting.hpp"

#include "jsonrpc/bounded_json.hpp"
#include "text/ip_address.hpp"
#include "text/url.hpp"

#include <rkllm_mcp/nearest_name.hpp>

#include <arpa/inet.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>

namespace rkllm_mcp {
namespace {

std::string shortened(const Json& value) {
  std::string text = value.dump(-1, ' ', false, Json::error_handler_t::replace);
  constexpr std::size_t kLongest = 80;
  if (text.size() <= kLongest) return text;
  text.resize(kLongest);
  return text + "…";
}

bool is_text(const Json& value) {
  return value.is_string() && value.get_ref<const std::string&>().find('\0') == std::string::npos;
}

bool is_ip_address(const std::string& text) {
  std::array<unsigned char, sizeof(in6_addr)> address;
  return inet_pton(AF_INET, text.c_str(), address.data()) == 1 ||
         inet_pton(AF_INET6, text.c_str(), address.data()) == 1;
}

bool is_file_mode(std::string_view text) {
  if (text.size() == 4 && text.front() == '0') text.remove_prefix(1);
  return text.size() == 3 && text.find_first_not_of("01234567") == std::string_view::npos;
}

bool is_web_address(const std::string& text) {
  try {
    parse_url(text);
    return true;
  } catch (const std::invalid_argument&) {
    return false;
  }
}

bool has_form(TextField::Form form, const std::string& text) {
  switch (form) {
    case TextField::Form::kAny: return true;
    case TextField::Form::kIpAddress: return is_ip_address(text);
    case TextField::Form::kFileMode: return is_file_mode(text);
    case TextField::Form::kWebAddress: return is_web_address(text);
    case TextField::Form::kWebAddressOrNone: return text.empty() || is_web_address(text);
  }
  return false;
}

bool is_network(const Json& text) { return IpNetwork::parse(text.get_ref<const std::string&>()).has_value(); }

std::optional<std::int64_t> integer_of(const Json& value) {
  if (value.is_number_unsigned() && value.get<std::uint64_t>() > std::numeric_limits<std::int64_t>::max()) {
    return std::nullopt;
  }
  if (!value.is_number_integer()) return std::nullopt;
  return value.get<std::int64_t>();
}

bool is_of_kind(NamedField::Member::Kind kind, const Json& value) {
  switch (kind) {
    case NamedField::Member::Kind::kText: return is_text(value);
    case NamedField::Member::Kind::kFlag: return value.is_boolean();
    case NamedField::Member::Kind::kObject: return value.is_object();
    case NamedField::Member::Kind::kTexts: return value.is_array() && std::ranges::all_of(value, is_text);
    case NamedField::Member::Kind::kTextMap: return value.is_object() && std::ranges::all_of(value, is_text);
    case NamedField::Member::Kind::kNumber: return value.is_number();
  }
  return false;
}

// What was probably meant by a key that is no member. A key that resembles no member probably belongs one level deeper,
// where any key may stand: models.big.model_path is models.big.param.model_path.
std::string nearest_member(const NamedField& field, const std::string& key) {
  std::vector<std::string> names;
  for (const auto& member : field.members) names.emplace_back(member.name);
  if (const auto alike = nearest_name(std::string_view(key), names)) return std::string(*alike);
  const auto object = std::ranges::find(field.members, NamedField::Member::Kind::kObject, &NamedField::Member::kind);
  return object == field.members.end() ? nearest_at_any_distance(key, names) : std::string(object->name) + "." + key;
}

std::vector<Complaint> complaints_about_named(const NamedField& field, const std::string& path, const Json& entry) {
  static constexpr std::array<const char*, 6> kExpectations{"a string",          "true or false",        "an object",
                                                            "a list of strings", "an object of strings", "a number"};
  if (!entry.is_object()) return {{path, "expected an object, found " + shortened(entry)}};
  std::vector<Complaint> complaints;
  for (const auto& [key, value] : entry.items()) {
    const std::string key_path = path + "." + key;
    const auto member = std::ranges::find(field.members, key, &NamedField::Member::name);
    if (member == field.members.end()) {
      complaints.push_back(
          {key_path, "unknown key; the nearest valid key is " + path + "." + nearest_member(field, key)});
    } else if (!is_of_kind(member->kind, value)) {
      const auto expectation = std::string(kExpectations.at(static_cast<std::size_t>(member->kind)));
      complaints.push_back({key_path, "expected " + expectation + ", found " + shortened(value)});
    } else if (!member->words.empty() &&
               std::ranges::find(member->words, value.get_ref<const std::string&>()) == member->words.end()) {
      complaints.push_back({key_path, "expected one of " + listed(member->words) + ", found " + shortened(value)});
    }
  }
  const auto is_there = [&entry](std::string_view name) { return entry.contains(name); };
  if (!field.either.empty() && std::ranges::count_if(field.either, is_there) != 1) {
    complaints.push_back({path, "expected one of " + listed(field.either)});
  }
  return complaints;
}

struct Assign {
  const Json& value;
  Settings& settings;

  bool operator()(const BoolField& field) const {
    if (!value.is_boolean()) return false;
    field.value.set(settings, value.get<bool>());
    return true;
  }
  bool operator()(const IntegerField& field) const {
    const auto number = integer_of(value);
    if (!number || *number < field.min || *number > field.max) return false;
    field.value.set(settings, *number);
    return true;
  }
  bool operator()(const TextField& field) const {
    if (!is_text(value)) return false;
    const auto& text = value.get_ref<const std::string&>();
    if (!has_form(field.form, text)) return false;
    field.value.set(settings, text);
    return true;
  }
  bool operator()(const ChoiceField& field) const {
    if (!value.is_string()) return false;
    const auto found = std::ranges::find(field.words, value.get_ref<const std::string&>());
    if (found == field.words.end()) return false;
    field.value.set(settings, static_cast<std::size_t>(found - field.words.begin()));
    return true;
  }
  bool operator()(const ListField& field) const {
    if (!value.is_array() || !std::ranges::all_of(value, is_text)) return false;
    if (field.form == ListField::Form::kNetworks && !std::ranges::all_of(value, is_network)) return false;
    const auto is_one_of = [&field](const Json& word) {
      return std::ranges::find(field.words, word.get_ref<const std::string&>()) != field.words.end();
    };
    if (!field.words.empty() && !std::ranges::all_of(value, is_one_of)) return false;
    field.value.set(settings, value.get<std::vector<std::string>>());
    return true;
  }
  bool operator()(const NamedField& field) const {
    if (!value.is_object()) return false;
    field.value.set(settings, value);
    return true;
  }
  bool operator()(const TextMapField& field) const {
    if (!value.is_object() || !std::ranges::all_of(value, is_text)) return false;
    field.value.set(settings, value);
    return true;
  }
};

// What the text stands for as JSON; a string if it stands for nothing else, which assign() then complains about. Throws
// std::invalid_argument for JSON that is nested too deep, or has a member twice.
Json meaning_of(const Setting& setting, std::string_view text) {
  if (std::holds_alternative<TextField>(setting.field) || std::holds_alternative<ChoiceField>(setting.field))
    return text;
  if (std::holds_alternative<BoolField>(setting.field)) {
    if (text == "true" || text == "on" || text == "1") return true;
    if (text == "false" || text == "off" || text == "0") return false;
    return text;
  }
  if (std::holds_alternative<ListField>(setting.field) && !text.starts_with('[')) return split_list(text);
  JsonBuilder builder(kDeepestJson);
  if (Json::sax_parse(text.begin(), text.end(), &builder)) return builder.take();
  if (!builder.structure_complaint().empty()) throw std::invalid_argument(builder.structure_complaint());
  return text;
}

}  // namespace

std::vector<Complaint> assign(const Setting& setting, const Json& value, Settings& settings) {
  const auto* const named = std::get_if<NamedField>(&setting.field);
  if (named != nullptr && value.is_object()) {
    std::vector<Complaint> complaints;
    for (const auto& [name, entry] : value.items()) {
      for (auto& complaint : complaints_about_named(*named, name_of(setting) + "." + name, entry)) {
        complaints.push_back(std::move(complaint));
      }
    }
    if (!complaints.empty()) return complaints;
  }
  if (std::visit(Assign{value, settings}, setting.field)) return {};
  const std::string found = setting.secrecy != Secrecy::kPublic ? "something else" : shortened(value);
  return {{name_of(setting), "expected " + expectation_of(setting) + ", found " + found}};
}

std::vector<Complaint> assign_text(const Setting& setting, std::string_view text, Settings& settings) {
  // JSON's own writer finds out whether the text is UTF-8; what is not could never be shown again.
  try {
    (void)Json(text).dump();
  } catch (const Json::type_error&) {
    return {{name_of(setting), "expected " + expectation_of(setting) + ", found bytes that are not UTF-8"}};
  }
  Json value;
  try {
    value = meaning_of(setting, text);
  } catch (const std::invalid_argument& refused) {
    return {{name_of(setting), refused.what()}};
  }
  return assign(setting, value, settings);
}

}  // namespace rkllm_mcp
