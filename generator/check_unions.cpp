#include "rules.hpp"

#include <algorithm>

namespace bindgen {
using c::TypeKind;

// A union is on the wire only as its members, and for C only those of an anonymous one stand in the struct around it.
void unions_are_covered(Inspection& inspection) {
  inspection.each_part([&](const Part& part, const std::vector<Part>& parts) {
    const auto* tagged = std::get_if<meaning::TaggedUnion>(&inspection.api.role(part.path).meaning);
    if (tagged == nullptr) return;
    const bool is_anonymous = part.field != nullptr && part.name.empty();
    inspection.require(is_anonymous, part, "only an anonymous union has a wire form; mark it \"unused\"");
    if (!is_anonymous) return;
    const Part* tag = find_part(parts, tagged->tag);
    const bool has_tag = tag != nullptr && tag->type->kind == TypeKind::kEnum;
    inspection.require(has_tag, part, "its tag " + tagged->tag + " is no enum beside it");
    if (!has_tag) return;
    const c::Enum* tags = c::find<c::Enum>(inspection.api.header, tag->type->name);
    for (const auto& [member, enumerator] : tagged->members) {
      const auto is_it = [&name = enumerator](const c::Enumerator& known) { return known.name == name; };
      const bool known = std::any_of(tags->enumerators.begin(), tags->enumerators.end(), is_it);
      inspection.require(known, part, enumerator + " is no enumerator of " + tags->name);
    }
    for (const c::Field& field : part.field->inline_record.front().fields) {
      const auto is_it = [&](const auto& pair) { return pair.first == field.name; };
      const bool named = std::any_of(tagged->members.begin(), tagged->members.end(), is_it);
      inspection.require(named, part, "no enumerator of the tag stands for member " + field.name);
    }
  });
}

}  // namespace bindgen
