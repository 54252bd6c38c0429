#include "check/rules.hpp"

#include "emit/parts.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace bindgen {
namespace {

// Whether something in `record`, or in the structs in it, holds the struct of this path; `seen` are those looked into.
bool leads_to(const Api& api, const NamedRecord& record, const std::string& path, std::set<std::string>& seen) {
  if (record.path == path) return true;
  if (!seen.insert(record.path).second) return false;
  for (const Part& part : parts_of(api, *record.record, record.path)) {
    const auto inner = struct_in(api, part);
    if (inner && leads_to(api, *inner, path, seen)) return true;
  }
  return false;
}

// An array at the end of a struct without a length or, as C had it before, with a length of 1: a library may know of
// more elements, and nothing says how many there are.
struct OpenEnd {
  std::string path;
  Location location;
  std::uint64_t count = 0;  // how many elements have room
  std::string entry;        // path of the declaration whose entry can say that there are no more
  bool can_be_told = false;
  std::string closed_by;  // path of the one whose entry has said so; empty: none
};

// `entry`: the path of the unused field that `record` is in and whose entry stands for all inside; else empty.
// `closed_by`: see OpenEnd.
void add_open_ends(const Api& api, const c::Record& record, const std::string& path, std::vector<OpenEnd>& found,
                   const std::string& entry = "", const std::string& closed_by = "") {
  for (const c::Field& field : record.fields) {
    if (!record.is_union && &field != &record.fields.back()) continue;
    const std::string own_path = path_of(path, field);
    const auto role = api.roles.find(own_path);
    const Meaning* meaning = role != api.roles.end() ? &role->second.meaning : nullptr;
    const auto* unused = meaning != nullptr ? std::get_if<meaning::Unused>(meaning) : nullptr;
    const bool closes = closed_by.empty() && unused != nullptr && unused->is_whole;
    const std::string& closing = closes ? own_path : closed_by;
    const std::string inner_entry = entry.empty() && unused != nullptr ? own_path : entry;
    const std::string& inner_path = field.name.empty() ? path : own_path;
    for (const c::Record& inner : field.inline_record)
      add_open_ends(api, inner, inner_path, found, inner_entry, closing);
    if (!field.inline_record.empty()) continue;
    const c::Type* held = &field.type;
    const bool has_length = meaning != nullptr && std::holds_alternative<meaning::Array>(*meaning);
    const bool is_open = held->kind == c::TypeKind::kArray && held->count <= 1 && !has_length;
    const std::uint64_t count = held->count;
    while (held->kind == c::TypeKind::kArray) held = &held->target.front();
    const auto* inner = held->kind == c::TypeKind::kRecord ? c::find<c::Record>(api.header, held->name) : nullptr;
    if (is_open) {
      const bool has_form = held->kind != c::TypeKind::kPointer && (inner == nullptr || !inner->is_union);
      found.push_back(
          {own_path, field.location, count, entry.empty() ? own_path : entry, has_form && entry.empty(), closing});
    }
    if (inner != nullptr) add_open_ends(api, *inner, inner->name, found, inner->is_union ? inner_entry : "", closing);
  }
}

// An integer that a client gives, and the largest number of elements that it could announce.
struct GivenNumber {
  std::string path;
  bool can_be_negative = false;
  double most = 0;
  bool has_bounds = true;  // an overlay can say some
};

// What a call hands over: the open ends of its structs, and the integers that could say how long these are.
class HandedOver {
 public:
  HandedOver(const Api& api, const c::Function& function) : api_(api) {
    for (const Part& part : parts_of(api_, function)) add(part);
  }

  const std::vector<OpenEnd>& open_ends() const { return open_ends_; }
  // One that could say that there are more than `count`; null if none could.
  const GivenNumber* number_above(std::uint64_t count) const {
    const auto is_above = [&](const GivenNumber& number) {
      return number.can_be_negative || number.most > static_cast<double>(count);
    };
    // Rather one that the overlay can limit.
    const auto can_be_limited = [&](const GivenNumber& number) { return is_above(number) && number.has_bounds; };
    auto found = std::find_if(numbers_.begin(), numbers_.end(), can_be_limited);
    if (found == numbers_.end()) found = std::find_if(numbers_.begin(), numbers_.end(), is_above);
    return found != numbers_.end() ? &*found : nullptr;
  }

 private:
  void add(const Part& part) {
    const Meaning& meaning = api_.role(part.path).meaning;
    add_number(part, meaning);
    if (const auto* chosen = std::get_if<meaning::OutChosen>(&meaning)) {
      for (const auto& [enumerator, name] : chosen->structs) {
        if (const auto* record = c::find<c::Record>(api_.header, name)) add(*record, record->name, true);
      }
    }
    const bool is_left_only =
        std::holds_alternative<meaning::OutValue>(meaning) || std::holds_alternative<meaning::OutRoom>(meaning);
    const c::Type& type = *part.type;
    if (is_left_only && !type.target.empty() && type.target.front().kind == c::TypeKind::kRecord) {
      const NamedRecord record = record_of(api_, part);
      add(*record.record, record.path, false);
    } else if (const auto inner = struct_in(api_, part)) {
      add(*inner->record, inner->path, true);
    }
  }
  void add(const c::Record& record, const std::string& path, bool is_given) {
    if (!seen_.insert({path, is_given}).second) return;
    add_open_ends(api_, record, path, open_ends_);
    std::erase_if(open_ends_, [](const OpenEnd& end) { return !end.closed_by.empty(); });
    if (!is_given) return;
    for (const Part& part : parts_of(api_, record, path)) add(part);
  }

  void add_number(const Part& part, const Meaning& meaning) {
    constexpr double kAny = std::numeric_limits<double>::infinity();
    if (std::holds_alternative<meaning::Count>(meaning) || std::holds_alternative<meaning::CpuCount>(meaning) ||
        std::holds_alternative<meaning::CpuMask>(meaning))
      numbers_.push_back({part.path, false, kAny, false});
    const auto add_bounded = [&](const c::Type& type, const auto& bounds) {
      const bool is_character = type.kind == c::TypeKind::kCharacter;  // which is signed on some machines
      const bool can_be_negative = is_character ? bounds.maximum.value_or(kAny) > 127
                                                : type.kind == c::TypeKind::kSigned && bounds.minimum.value_or(-1) < 0;
      if (is_integer(type) || is_character)
        numbers_.push_back({part.path, can_be_negative, bounds.maximum.value_or(kAny)});
    };
    if (const auto* array = std::get_if<meaning::Array>(&meaning); array != nullptr && !array->is_told_only) {
      const c::Type* element = part.type;
      while (element->kind == c::TypeKind::kArray || element->kind == c::TypeKind::kPointer)
        element = &element->target.front();
      if (is_integer(*element) && element->size.on_64_bit > 1) numbers_.push_back({part.path, false, kAny, false});
    }
    const auto* value = std::get_if<meaning::Value>(&meaning);
    if (value != nullptr && !value->is_flag) add_bounded(*part.type, *value);
    if (const auto* in_out = std::get_if<meaning::InOut>(&meaning)) add_bounded(part.type->target.front(), *in_out);
  }

  const Api& api_;
  std::vector<OpenEnd> open_ends_;
  std::vector<GivenNumber> numbers_;
  std::set<std::pair<std::string, bool>> seen_;
};

}  // namespace

std::optional<NamedRecord> struct_in(const Api& api, const Part& part) {
  const Meaning& meaning = api.role(part.path).meaning;
  const bool is_array_of_structs = std::holds_alternative<meaning::Array>(meaning) && !part.type->target.empty() &&
                                   part.type->target.front().kind == c::TypeKind::kRecord;
  const bool is_told = holds_record(api, part) || std::holds_alternative<meaning::Object>(meaning) ||
                       std::holds_alternative<meaning::Batch>(meaning) ||
                       std::holds_alternative<meaning::Callbacks>(meaning) || is_array_of_structs;
  return is_told ? std::optional(record_of(api, part)) : std::nullopt;
}

// Nothing is kept behind the end of a struct, so a client must not say that something is there.
void open_ends_stay_empty(Inspection& inspection) {
  std::set<std::string> told;
  for (const c::Function* function : methods_of(inspection.api)) {
    const HandedOver call(inspection.api, *function);
    for (const OpenEnd& end : call.open_ends()) {
      const GivenNumber* number = call.number_above(end.count);
      if (number == nullptr || !told.insert(end.path).second) continue;
      std::string remedy;
      if (end.count != 0) {
        remedy = R"(; if this array has one element, say "unused": {"whole": true})";
        if (end.entry != end.path) remedy += " of " + end.entry;
        if (end.can_be_told) remedy += R"(, or "array": {"whole": true} to have it on the wire)";
      }
      inspection.complain(
          end.location,
          end.path + ": nothing says how many elements it has, and " + number->path + ", which a client gives to " +
              function->name + ", could say more than there is room for; " +
              (number->has_bounds ? R"(mark that "unused", or limit it with "minimum" and "maximum" to )" +
                                        std::to_string(end.count) + remedy
                                  : R"(mark what is given there "unused", or leave the function out)"));
    }
  }
}

// "whole" says that nothing follows the end of a struct: that makes sense only where something could follow.
void wholes_are_open_ends(Inspection& inspection) {
  std::vector<OpenEnd> ends;
  for (const NamedRecord& record : all_records(inspection.api))
    add_open_ends(inspection.api, *record.record, record.path, ends);
  inspection.each_part([&](const Part& part, const auto&) {
    const auto* unused = std::get_if<meaning::Unused>(&inspection.api.role(part.path).meaning);
    if (unused == nullptr || !unused->is_whole) return;
    const auto is_closed = [&](const OpenEnd& end) { return end.closed_by == part.path; };
    inspection.require(std::any_of(ends.begin(), ends.end(), is_closed), part,
                       R"("whole" says nothing here: it is for what ends a struct in an array of one element, behind )"
                       R"(which there could be more; say "unused": {})");
  });
}

// What is generated for a struct contains what is generated for the structs in it.
void structs_are_finite(Inspection& inspection) {
  const Api& api = inspection.api;
  for (const NamedRecord& record : all_records(api)) {
    for (const Part& part : parts_of(api, *record.record, record.path)) {
      const auto inner = struct_in(api, part);
      std::set<std::string> seen;
      inspection.require(
          !inner || !leads_to(api, *inner, record.path, seen), part,
          "it leads back to " + record.path + ", and a struct inside itself has no wire form; mark it " + "\"unused\"");
    }
  }
}

}  // namespace bindgen
