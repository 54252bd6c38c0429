#include "check/rules.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <set>

namespace bindgen {
namespace {

using c::TypeKind;

constexpr double kExact = 9007199254740991;  // the largest up to which JSON numbers, as everybody reads them, are exact

struct Range {
  double least;
  double most;
};

// What a number of this C type can be, on every machine.
Range range_of(const c::Type& type) {
  if (type.kind == TypeKind::kFloat) return {-3.4028235e38, 3.4028235e38};
  if (type.kind == TypeKind::kDouble)
    return {std::numeric_limits<double>::lowest(), std::numeric_limits<double>::max()};
  const int bits = static_cast<int>(std::min(type.size.on_64_bit, type.size.on_32_bit) * 8);
  if (type.kind == TypeKind::kUnsigned || type.kind == TypeKind::kCharacter) return {0, std::ldexp(1, bits) - 1};
  return {-std::ldexp(1, bits - 1), std::ldexp(1, bits - 1) - 1};
}

// Within which a default must be: the type's range, narrowed by the overlay.
Range range_of(const c::Type& type, const meaning::Value& value) {
  if (value.is_flag) return {0, 1};
  const Range range = range_of(type);
  const double most = value.maximum.value_or(range.most);
  // char is signed on some machines only, so the number that a greater value becomes depends on the machine.
  return {value.minimum.value_or(range.least), type.kind == TypeKind::kCharacter ? std::min(most, 127.0) : most};
}

std::optional<double> number_in(const Constant& constant) {
  return match(
      constant, [](bool) -> std::optional<double> { return std::nullopt; },
      [](std::int64_t value) -> std::optional<double> { return static_cast<double>(value); },
      [](double value) -> std::optional<double> { return value; },
      [](const std::string&) -> std::optional<double> { return std::nullopt; });
}

// What an array, or an array of arrays, consists of.
const c::Type& element_of(const c::Type& type) {
  const c::Type& element = type.target.front();
  return element.kind == TypeKind::kArray ? element_of(element) : element;
}

bool is_enumerator(const c::Header& header, const c::Type& type, const Constant& constant) {
  const auto* name = std::get_if<std::string>(&constant);
  const c::Enum* entity = c::find<c::Enum>(header, type.name);
  return name != nullptr && entity != nullptr &&
         std::any_of(entity->enumerators.begin(), entity->enumerators.end(),
                     [&](const c::Enumerator& one) { return one.name == *name; });
}

// Why a part cannot hold this; empty if it can.
std::string obstacle(const c::Header& header, const Part& part, const Role& role, const Constant& constant) {
  if (const auto* in_out = std::get_if<meaning::InOut>(&role.meaning)) {
    const auto number = std::get_if<std::int64_t>(&constant);
    const Range range = range_of(part.type->target.front(),
                                 meaning::Value{Presence::kOptional, in_out->minimum, in_out->maximum, false, ""});
    if (number == nullptr) return "it is no integer";
    const auto exact = static_cast<double>(*number);
    return exact >= range.least && exact <= range.most ? "" : "it is out of range";
  }
  const auto* value = std::get_if<meaning::Value>(&role.meaning);
  if (value == nullptr && !std::holds_alternative<meaning::CpuCount>(role.meaning)) return "only values have one";
  if (part.type->kind == TypeKind::kRecord) return "those of a struct are its fields'";
  if (part.type->kind == TypeKind::kEnum) {
    return is_enumerator(header, *part.type, constant) ? "" : "it is no enumerator of " + part.type->name;
  }
  const bool is_bool = std::holds_alternative<bool>(constant);
  if (part.type->kind == TypeKind::kBool) return is_bool ? "" : "it is neither true nor false";
  if (value != nullptr && value->is_flag && is_bool) return "";
  const auto number = number_in(constant);
  if (!number) return "it is no number";
  if (!is_floating(*part.type) && std::holds_alternative<double>(constant))
    return "it is no integer, or none up to 9223372036854775807";
  const Range range = range_of(*part.type, value != nullptr ? *value : meaning::Value{});
  return *number >= range.least && *number <= range.most ? "" : "it is out of range";
}

}  // namespace

void defaults_are_possible(Inspection& inspection) {
  inspection.each_part([&](const Part& part, const std::vector<Part>& parts) {
    const Role& role = inspection.api.role(part.path);
    const auto* held = std::get_if<meaning::Value>(&role.meaning);
    inspection.require(held == nullptr || held->presence != Presence::kRequired || !role.default_value, part,
                       "what is \"required\" has no \"default\"");
    const auto inspect = [&](const std::optional<Constant>& constant, const std::string& key) {
      if (!constant) return;
      const std::string why = obstacle(inspection.api.header, part, role, *constant);
      inspection.require(why.empty(), part, "its \"" + key + "\" in the overlay is impossible: " + why);
      inspection.require(union_of(inspection.api, part, parts) == nullptr, part,
                         "a member of a union has no \"" + key + "\": it is given if its tag says so");
    };
    inspect(role.default_value, "default");
    inspect(role.wire_default, "wire_default");
  });
}

void texts_are_possible(Inspection& inspection) {
  inspection.each_part([&](const Part& part, const auto&) {
    const auto* text = std::get_if<meaning::Text>(&inspection.api.role(part.path).meaning);
    if (text == nullptr) return;
    // Of a text in place the last byte is its end.
    const bool is_in_place = part.field != nullptr && part.type->kind == TypeKind::kArray && part.type->count > 0;
    const std::uint64_t room = is_in_place ? part.type->count - 1 : std::numeric_limits<std::uint64_t>::max();
    std::set<std::string> seen;
    for (const std::string& one : text->one_of) {
      inspection.require(one.find('\0') == std::string::npos, part, "a text of \"one_of\" has NUL in it");
      inspection.require(one.size() >= text->min_length, part, "\"" + one + "\" is shorter than its \"min_length\"");
      inspection.require(seen.insert(one).second, part, "\"" + one + "\" stands twice in \"one_of\"");
      inspection.require(one.size() <= room, part, "\"" + one + "\" is longer than the array that holds it");
    }
    inspection.require(text->min_length <= room, part, "\"min_length\" is more than the array holds");
    inspection.require(text->one_of.empty() || !text->is_json, part, "\"json\" and \"one_of\" exclude each other");
    inspection.require(text->file_if_absent.empty() || text->presence == Presence::kNullable, part,
                       "\"file_if_absent\" is for what is \"nullable\"");
  });
  for (const c::Function* function : methods_of(inspection.api)) {
    const auto* text = std::get_if<meaning::Text>(&inspection.api.role(function->name + ".return").meaning);
    if (text == nullptr) continue;
    const bool is_of_given = text->min_length != 0 || text->is_json || !text->one_of.empty() ||
                             text->file != meaning::FileUse::kNone || !text->file_if_absent.empty();
    if (is_of_given)
      inspection.complain(function->location, function->name + ".return: of a returned text only \"freed_by\" is said");
  }
}

void bounds_are_possible(Inspection& inspection) {
  inspection.each_part([&](const Part& part, const auto&) {
    const Meaning& meaning = inspection.api.role(part.path).meaning;
    if (const auto* array = std::get_if<meaning::Array>(&meaning)) {
      const bool is_of_integers = is_integer(element_of(*part.type));
      inspection.require(is_of_integers || (!array->minimum && !array->below), part,
                         "\"minimum\" and \"below\" are for arrays of integers");
      if (is_of_integers && array->minimum) {
        const Range range = range_of(element_of(*part.type));
        const auto least = static_cast<double>(*array->minimum);
        inspection.require(least >= range.least && least <= range.most, part,
                           "its bounds are beyond those of its C type");
      }
    }
    std::optional<meaning::Value> value;
    if (const auto* given = std::get_if<meaning::Value>(&meaning)) value = *given;
    const auto* in_out = std::get_if<meaning::InOut>(&meaning);
    if (in_out != nullptr) value = meaning::Value{Presence::kOptional, in_out->minimum, in_out->maximum, false, ""};
    if (!value || (!value->minimum && !value->maximum)) return;
    const c::Type& type = in_out != nullptr ? part.type->target.front() : *part.type;
    const bool has_bounds = (is_number(type) || type.kind == TypeKind::kCharacter) && !value->is_flag;
    inspection.require(has_bounds, part, "\"minimum\" and \"maximum\" are for integers and floating-point numbers");
    if (!has_bounds) return;
    const Range range = range_of(type);
    const double least = value->minimum.value_or(range.least);
    const double most = value->maximum.value_or(range.most);
    const bool is_whole = std::trunc(least) == least && std::trunc(most) == most;
    const bool is_exact =
        std::abs(value->minimum.value_or(0)) <= kExact && std::abs(value->maximum.value_or(0)) <= kExact;
    inspection.require(least <= most, part, "its \"minimum\" is above its \"maximum\"");
    inspection.require(least >= range.least && most <= range.most, part, "its bounds are beyond those of its C type");
    inspection.require(is_floating(type) || is_whole, part, "the bounds of an integer are integers");
    inspection.require(!is_integer(type) || is_exact, part,
                       "a bound beyond 9007199254740991 is not exact in JSON; leave it to the C type");
  });
}

}  // namespace bindgen
