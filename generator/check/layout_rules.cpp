#include "check/rules.hpp"

#include <algorithm>
#include <cmath>
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
    std::uint64_t end = 0;  // in bits
    std::uint64_t align = 1;
    bool fills_up = false;  // with unnamed bits, which raise the alignment on some machines only
    for (const c::Field& field : record.fields) {
      const auto own = align_of(field);
      if (!own) return true;
      const bool is_unnamed = field.name.empty() && field.inline_record.empty();
      const bool is_bit_field = field.bit_width != 0 || is_unnamed;
      std::uint64_t begin = is_bit_field ? begin_of_bits(field, end, *own * 8) : rounded_up(end, *own * 8);
      if (record.is_union) begin = 0;
      const std::uint64_t found = field.offset.*width_ * 8 + field.first_bit.*width_;
      if (!is_unnamed && found != base * 8 + begin) return false;
      for (const c::Record& inner : field.inline_record) {
        if (!has(inner, base + begin / 8)) return false;
      }
      end = std::max(end, begin + (is_bit_field ? field.bit_width : field.type.size.*width_ * 8));
      fills_up = fills_up || is_unnamed;
      if (!is_unnamed) align = std::max(align, *own);
    }
    if (fills_up) align = std::max(align, record.align.*width_);
    const std::uint64_t size = record.fields.empty() ? 1 : rounded_up(end, align * 8) / 8;  // C++ has none of size 0
    return record.size.*width_ == size && record.align.*width_ == align;
  }

 private:
  // Bits follow each other, unless they would lie in two units of their type; those of width 0 end a unit.
  static std::uint64_t begin_of_bits(const c::Field& field, std::uint64_t end, std::uint64_t unit) {
    const bool fits = field.bit_width != 0 && end / unit == (end + field.bit_width - 1) / unit;
    return fits ? end : rounded_up(end, unit);
  }

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

// What a bit-field can hold is told as the value that it is; nothing in C++ can refer to one.
void bit_fields_are_values(Inspection& inspection) {
  inspection.each_part([&](const Part& part, const std::vector<Part>& parts) {
    if (part.field == nullptr || part.field->bit_width == 0) return;
    const Meaning& meaning = inspection.api.role(part.path).meaning;
    if (std::holds_alternative<meaning::Unused>(meaning)) return;
    const auto* value = std::get_if<meaning::Value>(&meaning);
    inspection.require(value != nullptr && union_of(inspection.api, part, parts) == nullptr, part,
                       "a bit-field is a value that stands for itself, or it is unused");
    inspection.require(part.type->kind != TypeKind::kCharacter, part,
                       "a bit-field of char is signed on some machines and not on others; mark it \"unused\"");
    if (value == nullptr) return;
    const int bits = static_cast<int>(part.field->bit_width);
    const bool is_signed = part.type->kind == TypeKind::kSigned;
    const double count = std::ldexp(1.0, bits - (is_signed ? 1 : 0));
    const auto fits = [&](double number) { return number >= (is_signed ? -count : 0) && number < count; };
    if (const auto* entity = c::find<c::Enum>(inspection.api.header, part.type->name)) {
      const bool has_sign = entity->underlying.kind == TypeKind::kSigned;
      for (const c::Enumerator& each : entity->enumerators) {
        const double most = std::ldexp(1.0, bits - (has_sign ? 1 : 0));
        const auto number = static_cast<double>(each.value);
        inspection.require(number >= (has_sign ? -most : 0) && number < most, part,
                           "its bits cannot hold " + each.name);
      }
    } else if (value->is_flag) {
      inspection.require(fits(1), part, "its only bit is a sign, so it cannot be a flag");
    } else if (is_integer(*part.type)) {
      inspection.require(bits <= 53, part,
                         "a bit-field of more than 53 bits cannot be told exactly; mark it \"unused\"");
      inspection.require(bits > 53 || (fits(value->minimum.value_or(0)) && fits(value->maximum.value_or(0))), part,
                         "its bits cannot hold all of its bounds");
    }
  });
}

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
