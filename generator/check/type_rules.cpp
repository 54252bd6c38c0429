#include "check/rules.hpp"

#include "emit/parts.hpp"
#include "read/declaration.hpp"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <set>
#include <string>

namespace bindgen {
namespace {

using c::TypeKind;

bool is_array_of(const c::Type& type, TypeKind kind) {
  return type.kind == TypeKind::kArray && type.count != 0 && type.target.front().kind == kind;
}

bool is_array_of_texts(const c::Type& type) {
  return is_array_of(type, TypeKind::kPointer) && points_at(type.target.front(), TypeKind::kCharacter);
}

// Numbers, bools and enumerators, or arrays of arrays of these; or arrays of texts.
bool is_grid(const c::Type& type) {
  if (type.kind == TypeKind::kArray) {
    const c::Type& element = type.target.front();
    return type.count != 0 && (is_grid(element) || is_array_of(element, TypeKind::kCharacter));
  }
  return is_number(type) || type.kind == TypeKind::kBool || type.kind == TypeKind::kEnum;
}

// What a meaning demands of the elements of an array, and of where they lie.
bool can_be_array(const meaning::Array& array, const c::Type& type) {
  const bool is_in_place = type.kind == TypeKind::kArray;
  const bool is_counted = std::holds_alternative<CountedBy>(array.length);
  if (is_in_place) {
    if (!is_counted && !std::holds_alternative<Whole>(array.length)) return false;
    return is_grid(type) || is_array_of(type, TypeKind::kCharacter) || is_array_of(type, TypeKind::kRecord) ||
           is_array_of_texts(type);
  }
  if (type.kind != TypeKind::kPointer || std::holds_alternative<Whole>(array.length)) return false;
  const c::Type& element = type.target.front();
  if (is_number(element) || element.kind == TypeKind::kBool || element.kind == TypeKind::kEnum ||
      element.kind == TypeKind::kCharacter || element.kind == TypeKind::kVoid)
    return true;
  const bool is_text = points_at(element, TypeKind::kCharacter);
  return is_counted && (element.kind == TypeKind::kRecord || is_text);
}

// Of an array, its elements are what is const.
bool is_read_only(const c::Type& type) {
  return type.is_const || (type.kind == TypeKind::kArray && is_read_only(type.target.front()));
}

// What may change at any time is nothing to copy into or from.
bool leads_to_volatile(const c::Type& type) {
  if (type.kind != TypeKind::kPointer && type.kind != TypeKind::kArray) return false;
  return type.target.front().is_volatile || leads_to_volatile(type.target.front());
}

// What a meaning demands of the C type.
bool fits(const Meaning& meaning, const c::Type& type) {
  if (leads_to_volatile(type)) return std::holds_alternative<meaning::Unused>(meaning);
  const auto points_at_numbers = [&] { return type.kind == TypeKind::kPointer && is_number(type.target.front()); };
  return match(
      meaning,
      [&](const meaning::Value& value) {
        if (!value.present_if.empty()) return type.kind == TypeKind::kRecord && !value.is_flag;
        if (type.kind == TypeKind::kCharacter) return true;
        if (value.is_flag) return is_integer(type);
        return is_number(type) || type.kind == TypeKind::kBool || type.kind == TypeKind::kEnum ||
               type.kind == TypeKind::kRecord;
      },
      [&](const meaning::Text&) {
        return points_at(type, TypeKind::kCharacter) || is_array_of(type, TypeKind::kCharacter);
      },
      [&](const meaning::Object& object) {
        return points_at(type, TypeKind::kRecord) && !(object.is_changed && is_read_only(type.target.front()));
      },
      [&](const meaning::Batch&) { return points_at(type, TypeKind::kRecord); },
      [&](const meaning::Array& array) {
        const bool can_be_changed = type.kind == TypeKind::kPointer && !is_read_only(type.target.front()) &&
                                    type.target.front().kind != TypeKind::kPointer;
        return can_be_array(array, type) && (can_be_changed || !array.is_changed);
      },
      [&](const meaning::Count&) { return is_integer(type); }, [](const meaning::TaggedUnion&) { return true; },
      [&](const meaning::CpuMask&) { return type.kind == TypeKind::kUnsigned; },
      [&](const meaning::CpuCount&) { return is_integer(type); },
      [&](const meaning::UsesHandle&) { return type.kind == TypeKind::kPointer || is_integer(type); },
      [&](const meaning::CreatesHandle&) {
        if (type.kind == TypeKind::kPointer && is_integer(type.target.front())) return !type.target.front().is_const;
        return points_at(type, TypeKind::kPointer) && !type.target.front().target.front().is_const;
      },
      [&](const meaning::DestroysHandle&) { return type.kind == TypeKind::kPointer || is_integer(type); },
      [&](const meaning::OutArray&) { return points_at_numbers(); },
      [&](const meaning::OutValue&) {
        if (type.kind != TypeKind::kPointer || type.target.front().is_const) return false;
        const TypeKind held = type.target.front().kind;
        return points_at_numbers() || held == TypeKind::kBool || held == TypeKind::kEnum || held == TypeKind::kRecord ||
               (points_at(type.target.front(), TypeKind::kCharacter) &&
                type.target.front().target.front().is_const);  // the library keeps it
      },
      [&](const meaning::OutRoom&) {
        if (type.kind != TypeKind::kPointer || is_read_only(type.target.front())) return false;
        const c::Type& element = type.target.front();
        return is_grid(element) || element.kind == TypeKind::kRecord || element.kind == TypeKind::kCharacter ||
               element.kind == TypeKind::kVoid || is_array_of(element, TypeKind::kCharacter) ||
               (points_at(element, TypeKind::kCharacter) && element.target.front().is_const);  // the library keeps it
      },
      [&](const meaning::InOut&) {
        return type.kind == TypeKind::kPointer && is_integer(type.target.front()) && !type.target.front().is_const;
      },
      [&](const meaning::OutChosen&) { return points_at(type, TypeKind::kVoid) && !type.target.front().is_const; },
      [&](const meaning::SizeOf&) { return is_integer(type); },
      [&](const meaning::Callbacks&) { return points_at(type, TypeKind::kRecord); },
      [&](const meaning::StreamCallback&) { return points_at(type, TypeKind::kFunction); },
      [&](const meaning::StreamUserdata&) { return points_at(type, TypeKind::kVoid); },
      [&](const meaning::Unused& unused) {
        return !unused.is_whole || (type.kind == TypeKind::kArray && type.count != 0) || type.kind == TypeKind::kRecord;
      },
      [&](const meaning::Status&) { return is_integer(type) || type.kind == TypeKind::kEnum; },
      [&](const meaning::Predicate&) { return is_integer(type); });
}

// What to say instead of a "whole" that does not fit; empty of everything else.
std::string remedy_for_whole(const Meaning& meaning) {
  const auto* array = std::get_if<meaning::Array>(&meaning);
  const auto* unused = std::get_if<meaning::Unused>(&meaning);
  if (array != nullptr && std::holds_alternative<Whole>(array->length))
    return ": \"whole\" is for an array of numbers, structs, characters or texts (not volatile ones), declared with "
           "the number of its elements (v[4]); say what counts it, as with \"counted_by\", or mark it \"unused\"";
  if (unused != nullptr) return ": \"whole\" is for an array with a length, a struct or a union; say \"unused\": {}";
  return {};
}

// Why a part cannot have this meaning: it is one of returned values, or none of fields. Empty: it can.
std::string out_of_place(const Meaning& meaning, const Part& part) {
  if (std::holds_alternative<meaning::Status>(meaning) || std::holds_alternative<meaning::Predicate>(meaning))
    return "\"status\" and \"predicate\" are of what a function returns";
  const bool is_of_call = is_handle(meaning) || std::holds_alternative<meaning::Callbacks>(meaning);
  if (part.field != nullptr && is_of_call)
    return "\"handle\" and \"callbacks\" are of what a function is given or returns; mark the field \"unused\"";
  return {};
}

bool holds_struct(const Meaning& meaning) {
  return std::holds_alternative<meaning::Value>(meaning) || std::holds_alternative<meaning::Object>(meaning) ||
         std::holds_alternative<meaning::Batch>(meaning) || std::holds_alternative<meaning::Callbacks>(meaning) ||
         std::holds_alternative<meaning::OutValue>(meaning) || std::holds_alternative<meaning::OutRoom>(meaning) ||
         std::holds_alternative<meaning::Array>(meaning);
}

// Of a struct or enum, or of what a pointer points at: whether its members can be told. Of everything else: true.
bool has_members(const c::Header& header, const c::Type& type, const c::Field* field) {
  if (field != nullptr && !field->inline_record.empty()) return !field->inline_record.front().is_union;
  const bool is_of_it = type.kind == TypeKind::kPointer || type.kind == TypeKind::kArray;
  const c::Type& held = is_of_it ? type.target.front() : type;
  if (held.kind == TypeKind::kArray) return has_members(header, held, nullptr);
  if (held.kind == TypeKind::kEnum) return c::find<c::Enum>(header, held.name) != nullptr;
  if (held.kind != TypeKind::kRecord) return true;
  const c::Record* record = c::find<c::Record>(header, held.name);
  return record != nullptr && !record->is_union;
}

// What can be told of a returned value.
bool can_be_returned(const Meaning& meaning, const c::Type& type) {
  if (std::holds_alternative<meaning::CreatesHandle>(meaning))
    return (type.kind == TypeKind::kPointer && !type.target.front().is_const) || is_integer(type);
  return std::holds_alternative<meaning::Unused>(meaning) ||
         (fits(meaning, type) &&
          (std::holds_alternative<meaning::Value>(meaning) || std::holds_alternative<meaning::Text>(meaning) ||
           std::holds_alternative<meaning::Object>(meaning) || std::holds_alternative<meaning::Status>(meaning) ||
           std::holds_alternative<meaning::Predicate>(meaning)));
}

// A status is an int for the support headers: of a wider type the upper half would be lost, and with it the failure.
void inspect_code(Inspection& inspection, const c::Function& function, const Meaning& meaning) {
  const auto* predicate = std::get_if<meaning::Predicate>(&meaning);
  if (predicate == nullptr && !std::holds_alternative<meaning::Status>(meaning)) return;
  const std::uint64_t bytes = std::max(function.returns.size.on_64_bit, function.returns.size.on_32_bit);
  if (bytes > sizeof(std::int32_t))
    inspection.complain(function.location, function.name + ".return: " + spelling(function.returns) +
                                               " is wider than an int, which a status and a predicate are");
  if (predicate == nullptr || bytes >= sizeof(std::int32_t)) return;
  const bool has_sign = function.returns.kind == TypeKind::kSigned;
  const std::int64_t most = (std::int64_t{1} << (bytes * 8 - (has_sign ? 1 : 0))) - 1;
  const std::int64_t least = has_sign ? -most - 1 : 0;
  for (const std::int64_t value : {predicate->yes, predicate->no}) {
    if (value < least || value > most)
      inspection.complain(function.location,
                          function.name + ".return: no " + spelling(function.returns) + " is " + std::to_string(value));
  }
}

}  // namespace

void each_type(const c::Header& header, const TypeVisitor& visit) {
  const auto visit_signature = [&](const auto& callable) {
    visit(callable.returns, callable.location);
    for (const c::Param& param : callable.params) visit(param.type, callable.location);
  };
  const std::function<void(const c::Record&)> visit_fields = [&](const c::Record& record) {
    for (const c::Field& field : record.fields) {
      if (field.inline_record.empty()) visit(field.type, field.location);
      for (const c::Record& inner : field.inline_record) visit_fields(inner);
    }
  };
  for (const c::Function* function : c::all<c::Function>(header)) visit_signature(*function);
  for (const c::Callback* callback : c::all<c::Callback>(header)) visit_signature(*callback);
  for (const c::Record* record : c::all<c::Record>(header)) visit_fields(*record);
  for (const c::Alias* alias : c::all<c::Alias>(header)) visit(alias->type, alias->location);
}

// The generated code includes no header of the interface, so each type must be declared in the header itself.
void types_are_declared(Inspection& inspection) {
  const c::Header& header = inspection.api.header;
  std::set<std::string> declared;
  for (const c::Symbol& symbol : header.symbols) declared.insert(c::name_of(symbol));
  Location at;
  const std::function<void(const c::Type&)> inspect = [&](const c::Type& type) {
    if (!type.beyond_c.empty()) {
      inspection.complain(at, type.name + " is " + type.beyond_c + " in C++, and nothing in C");
      return;
    }
    if (!type.name.empty()) {
      if (declared.count(type.name) == 0 && !is_known_everywhere(type.name) && !is_repeatable(type) &&
          declared.insert(type.name).second) {
        inspection.complain(
            at, type.kind == TypeKind::kOther
                    ? type.name + " is another type on each machine, which no generated code can declare"
                    : type.name + " is declared in another header, which is not read; declare it in this one");
      }
      return;
    }
    for (const c::Type& target : type.target) inspect(target);
    for (const c::Type& param : type.params) inspect(param);
  };
  each_type(header, [&](const c::Type& type, const Location& where) {
    at = where;
    inspect(type);
  });
}

void meanings_fit_types(Inspection& inspection) {
  inspection.each_part([&](const Part& part, const auto&) {
    const Meaning& meaning = inspection.api.role(part.path).meaning;
    const auto* array = std::get_if<meaning::Array>(&meaning);
    if (const std::string why = out_of_place(meaning, part); !why.empty()) {
      inspection.require(false, part, why);
      return;
    }
    inspection.require(fits(meaning, array != nullptr ? array_type(part, *array) : *part.type), part,
                       "its meaning in the overlay does not fit its C type" + remedy_for_whole(meaning));
    inspection.require(!holds_struct(meaning) || has_members(inspection.api.header, *part.type, part.field), part,
                       "its C type is no struct or enum that the header declares with its members; mark it \"unused\"");
  });
}

void returns_can_be_told(Inspection& inspection) {
  for (const c::Function* function : methods_of(inspection.api)) {
    const Meaning& meaning = inspection.api.role(function->name + ".return").meaning;
    const auto* predicate = std::get_if<meaning::Predicate>(&meaning);
    if (predicate != nullptr && predicate->yes == predicate->no)
      inspection.complain(function->location, function->name + ".return: its \"yes\" and its \"no\" are the same");
    inspect_code(inspection, *function, meaning);
    if (can_be_returned(meaning, function->returns) &&
        (!holds_struct(meaning) || has_members(inspection.api.header, function->returns, nullptr)))
      continue;
    inspection.complain(function->location, function->name + ".return: its meaning in the overlay is none of a result");
  }
}

void constants_can_be_told(Inspection& inspection) {
  for (const c::Macro* macro : c::all<c::Macro>(inspection.api.header)) {
    if (!macro->no_constant.empty()) inspection.complain(macro->location, macro->name + " is " + macro->no_constant);
  }
}

}  // namespace bindgen
