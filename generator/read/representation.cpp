#include "read/representation.hpp"

#include <algorithm>
#include <set>
#include <string>
#include <utility>

namespace bindgen {
namespace {

// What a typedef of the header stands for in the end; other types as they are. A name that is also a tag means the
// tag: in C a typedef may have the name of something else.
const c::Type& behind_typedefs(const c::Header& header, const c::Type& type) {
  const auto* alias = type.name.empty() ? nullptr : c::find<c::Alias>(header, type.name);
  if (alias == nullptr || alias->type.name == type.name) return type;
  const bool is_tag = c::find<c::Record>(header, type.name) != nullptr ||
                      c::find<c::Opaque>(header, type.name) != nullptr ||
                      c::find<c::Enum>(header, type.name) != nullptr;
  return is_tag ? type : behind_typedefs(header, alias->type);
}

const c::Record* record_of(const c::Header& header, const c::Type& type) {
  return type.content.empty() ? c::find<c::Record>(header, type.name) : &type.content.front();
}

// The struct that a field holds, and from where on its fields are placed.
struct HeldRecord {
  const c::Record* record = nullptr;
  Layout from = {};
};

HeldRecord held_by(const c::Header& header, const c::Field& field) {
  if (!field.inline_record.empty()) return {&field.inline_record.front(), field.offset};
  return {record_in(header, field), {}};
}

Layout between(const Layout& from, const Layout& to) {
  return {to.on_64_bit - from.on_64_bit, to.on_32_bit - from.on_32_bit};
}

class Comparison {
 public:
  Comparison(const c::Header& before, const c::Header& after) : before_(before), after_(after) {}

  bool same(const c::Type& one, const c::Type& other) {
    const c::Type& first = behind_typedefs(before_, one);
    const c::Type& second = behind_typedefs(after_, other);
    const bool are_typedefs = &first != &one && &second != &other;
    return (are_typedefs && one.name == other.name) ||  // how it has changed is told of the typedef
           same_as_they_are(first, second);
  }

 private:
  bool same_as_they_are(const c::Type& one, const c::Type& other) {
    const bool is_declared = one.kind == c::TypeKind::kRecord || one.kind == c::TypeKind::kEnum;
    if (one.kind == other.kind && is_declared && !one.name.empty() && one.name == other.name) {
      // How a type of the header changes is told at its declaration. A size of 0 is that of one which is not defined:
      // programs only have pointers at it.
      return one.size == other.size || is_in_header(one.name) || one.size == Layout{} || other.size == Layout{};
    }
    if (one.kind != other.kind || one.size != other.size || one.count != other.count) return false;
    switch (one.kind) {
      case c::TypeKind::kRecord: return same_records(one, other);
      case c::TypeKind::kEnum: return same_enums(one.name, other.name);
      case c::TypeKind::kFunction: return same_functions(one, other);
      case c::TypeKind::kPointer:
        return points_at_the_same_unknown(one.target.front(), other.target.front()) ||
               same(one.target.front(), other.target.front());
      case c::TypeKind::kArray: return same(one.target.front(), other.target.front());
      case c::TypeKind::kOther: return one.name == other.name;
      case c::TypeKind::kVoid:
      case c::TypeKind::kBool:
      case c::TypeKind::kCharacter:
      case c::TypeKind::kSigned:
      case c::TypeKind::kUnsigned:
      case c::TypeKind::kFloat:
      case c::TypeKind::kDouble: return true;
    }
    return false;
  }

  bool is_in_header(const std::string& name) const {
    return c::find<c::Record>(before_, name) != nullptr || c::find<c::Enum>(before_, name) != nullptr;
  }

  // Whether one side points at void or an unnamed struct, and the other at a struct that its header does not define:
  // only the library knows what is there, and it may be the same.
  bool points_at_the_same_unknown(const c::Type& one, const c::Type& other) const {
    const auto is_unknown = [](const c::Header& header, const c::Type& type) {
      return type.kind == c::TypeKind::kRecord && !type.name.empty() &&
             c::find<c::Record>(header, type.name) == nullptr && type.size == Layout{};
    };
    const auto is_void_or_unnamed = [](const c::Type& type) {
      return type.kind == c::TypeKind::kVoid || (type.kind == c::TypeKind::kRecord && type.name.empty());
    };
    return (is_void_or_unnamed(one) && is_unknown(after_, other)) ||
           (is_void_or_unnamed(other) && is_unknown(before_, one));
  }

  bool same_functions(const c::Type& one, const c::Type& other) {
    if (one.has_own_call != other.has_own_call) return false;
    if (one.is_variadic != other.is_variadic || one.params.size() != other.params.size()) return false;
    for (std::size_t i = 0; i < one.params.size(); ++i) {
      if (!same(one.params[i], other.params[i])) return false;
    }
    return same(one.target.front(), other.target.front());
  }

  bool same_records(const c::Type& one, const c::Type& other) {
    const c::Record* first = record_of(before_, one);
    const c::Record* second = record_of(after_, other);
    const bool are_unknown = one.name.empty() && other.name.empty() && first == nullptr && second == nullptr;
    if (are_unknown) return true;  // those of another header
    return first != nullptr && second != nullptr && same_fields({first}, {second});
  }

  bool same_fields(const HeldRecord& held, const HeldRecord& other_held) {
    const c::Record& one = *held.record;
    const c::Record& other = *other_held.record;
    if (!seen_.emplace(&one, &other).second) return true;  // a struct that leads to its own kind
    if (one.is_union != other.is_union || one.size != other.size || one.align != other.align) return false;
    if (one.fields.size() != other.fields.size()) return false;
    for (std::size_t i = 0; i < one.fields.size(); ++i) {
      const c::Field& first = one.fields[i];
      const c::Field& second = one.is_union ? member_called(other, first.name, i) : other.fields[i];
      if (first.name != second.name) return false;
      if (between(held.from, first.offset) != between(other_held.from, second.offset)) return false;
      if (first.bit_width != second.bit_width || first.first_bit != second.first_bit) return false;
      if (!same_held(first, second)) return false;
    }
    return true;
  }

  // What is declared in place may have a name in the other header.
  bool same_held(const c::Field& one, const c::Field& other) {
    if (one.inline_record.empty() && other.inline_record.empty()) return same(one.type, other.type);
    const HeldRecord first = held_by(before_, one);
    const HeldRecord second = held_by(after_, other);
    return first.record != nullptr && second.record != nullptr && same_fields(first, second);
  }

  // In which order a union names its members means nothing.
  static const c::Field& member_called(const c::Record& record, const std::string& name, std::size_t else_at) {
    const auto found =
        std::find_if(record.fields.begin(), record.fields.end(), [&](const auto& each) { return each.name == name; });
    return found == record.fields.end() || name.empty() ? record.fields[else_at] : *found;
  }

  // The enumerators of one without a name are told each by itself.
  bool same_enums(const std::string& one, const std::string& other) const {
    if (one.empty() || other.empty()) return true;
    const auto* first = c::find<c::Enum>(before_, one);
    const auto* second = c::find<c::Enum>(after_, other);
    if (first == nullptr || second == nullptr || first->enumerators.size() != second->enumerators.size()) return false;
    for (std::size_t i = 0; i < first->enumerators.size(); ++i) {
      if (first->enumerators[i].name != second->enumerators[i].name) return false;
      if (first->enumerators[i].value != second->enumerators[i].value) return false;
    }
    return true;
  }

  const c::Header& before_;
  const c::Header& after_;
  // Pairs that are the same unless the rest says otherwise.
  std::set<std::pair<const c::Record*, const c::Record*>> seen_;
};

}  // namespace

bool same_representation(const c::Header& before, const c::Type& one, const c::Header& after, const c::Type& other) {
  return Comparison(before, after).same(one, other);
}

const c::Record* record_in(const c::Header& header, const c::Field& field) {
  if (!field.inline_record.empty()) return &field.inline_record.front();
  const c::Type& type = behind_typedefs(header, field.type);
  return type.kind == c::TypeKind::kRecord ? record_of(header, type) : nullptr;
}

void move_by(c::Record& record, const Layout& offset) {
  for (c::Field& field : record.fields) {
    field.offset.on_64_bit += offset.on_64_bit;
    field.offset.on_32_bit += offset.on_32_bit;
    for (c::Record& inner : field.inline_record) move_by(inner, offset);
  }
}

bool ends_openly(const c::Header& header, const c::Type& type, std::uint64_t elements) {
  if (type.kind == c::TypeKind::kArray)
    return type.count <= elements || ends_openly(header, type.target.front(), elements);
  const auto* record = type.kind == c::TypeKind::kRecord ? record_of(header, type) : nullptr;
  return record != nullptr && ends_openly(header, *record, elements);
}

bool ends_openly(const c::Header& header, const c::Record& record, std::uint64_t elements) {
  const auto is_open = [&](const c::Field& field) {
    return field.inline_record.empty() ? ends_openly(header, field.type, elements)
                                       : ends_openly(header, field.inline_record.front(), elements);
  };
  if (record.is_union) return std::any_of(record.fields.begin(), record.fields.end(), is_open);
  return !record.fields.empty() && is_open(record.fields.back());
}

}  // namespace bindgen
