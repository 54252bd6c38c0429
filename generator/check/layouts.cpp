#include "check/rules.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>

namespace bindgen {
namespace {

using c::TypeKind;

std::uint64_t rounded_up(std::uint64_t size, std::uint64_t align) { return (size + align - 1) / align * align; }

// Whether a struct lies as a compiler lays out its fields by itself, where pointers have the width of `width`.
class NaturalLayout {
 public:
  NaturalLayout(const c::Header& header, std::uint64_t Layout::*width) : header_(header), width_(width) {}

  // `base`: where the record itself lies in the outermost one. Where no alignment is known, the layout counts as
  // natural.
  bool has(const c::Record& record, std::uint64_t base) const {
    std::uint64_t end = 0;
    std::uint64_t align = 1;
    for (const c::Field& field : record.fields) {
      const auto own = align_of(field);
      if (!own || field.bit_width != 0) return true;
      const std::uint64_t begin = record.is_union ? 0 : rounded_up(end, *own);
      if (field.offset.*width_ != base + begin) return false;
      for (const c::Record& inner : field.inline_record) {
        if (!has(inner, base + begin)) return false;
      }
      end = std::max(end, begin + field.type.size.*width_);
      align = std::max(align, *own);
    }
    const std::uint64_t size = record.fields.empty() ? 1 : rounded_up(end, align);  // C++ has none of size 0
    return record.size.*width_ == size && record.align.*width_ == align;
  }

 private:
  std::optional<std::uint64_t> align_of(const c::Field& field) const {
    return field.inline_record.empty() ? align_of(field.type) : field.inline_record.front().align.*width_;
  }

  // On all targets that are read, a scalar is aligned to its size.
  std::optional<std::uint64_t> align_of(const c::Type& type) const {
    switch (type.kind) {
      case TypeKind::kArray: return align_of(type.target.front());
      case TypeKind::kRecord: {
        const auto* record = c::find<c::Record>(header_, type.name);
        return record != nullptr ? std::optional(record->align.*width_) : std::nullopt;
      }
      case TypeKind::kBool:
      case TypeKind::kCharacter:
      case TypeKind::kSigned:
      case TypeKind::kUnsigned:
      case TypeKind::kFloat:
      case TypeKind::kDouble:
      case TypeKind::kEnum:
      case TypeKind::kPointer: return type.size.*width_;
      case TypeKind::kVoid:
      case TypeKind::kFunction:
      case TypeKind::kOther: return std::nullopt;
    }
    return std::nullopt;
  }

  const c::Header& header_;
  std::uint64_t Layout::*width_;
};

bool is_fixed(const c::Type& type) {
  return type.is_const || type.is_volatile || (type.kind == TypeKind::kArray && is_fixed(type.target.front()));
}

void inspect_fields(Inspection& inspection, const c::Record& record, const std::string& path) {
  for (const c::Field& field : record.fields) {
    const std::string own_path = path_of(path, field);
    if (is_fixed(field.type))
      inspection.complain(field.location, own_path + " is const or volatile; generated code could not fill it in");
    for (const c::Record& inner : field.inline_record) inspect_fields(inspection, inner, own_path);
  }
}

}  // namespace

// The generated code declares the fields of each struct, and nothing else of it.
void structs_are_plain(Inspection& inspection) {
  const c::Header& header = inspection.api.header;
  for (const c::Record* record : c::all<c::Record>(header)) {
    inspect_fields(inspection, *record, record->name);
    const bool is_natural = NaturalLayout(header, &Layout::on_64_bit).has(*record, 0) &&
                            NaturalLayout(header, &Layout::on_32_bit).has(*record, 0);
    if (!record->beyond_c.empty()) {
      inspection.complain(record->location, record->name + " has " + record->beyond_c + ", which no struct of C has");
    } else if (!is_natural) {
      inspection.complain(record->location, record->name +
                                                " is packed or aligned in a way of its own (an attribute, "
                                                "a pragma), which the generated code cannot repeat");
    }
  }
}

}  // namespace bindgen
