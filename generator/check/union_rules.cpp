#include "check/rules.hpp"

#include <algorithm>
#include <cstdint>
#include <map>

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
    const bool has_tag = tag != nullptr && tag->type->kind == TypeKind::kEnum &&
                         std::holds_alternative<meaning::Value>(inspection.api.role(tag->path).meaning);
    inspection.require(has_tag, part, "its tag " + tagged->tag + " is no enum beside it that is on the wire");
    if (!has_tag) return;
    inspection.require(union_of(inspection.api, *tag, parts) == nullptr, part,
                       "its tag " + tagged->tag + " is a member of a union");
    const bool is_read_before =
        tag < &part || inspection.api.role(tag->path).group == inspection.api.role(part.path).group;
    inspection.require(is_read_before, part,
                       "its tag " + tagged->tag + " stands behind it, so both are in one \"group\" or in none");
    const c::Enum* tags = c::find<c::Enum>(inspection.api.header, tag->type->name);
    const auto& fields = part.field->inline_record.front().fields;
    std::map<std::int64_t, std::string> by_value;  // the member that each value of the tag stands for
    for (const auto& [member, enumerator] : tagged->members) {
      const auto is_it = [&name = enumerator](const c::Enumerator& known) { return known.name == name; };
      const auto known = std::find_if(tags->enumerators.begin(), tags->enumerators.end(), is_it);
      inspection.require(known != tags->enumerators.end(), part, enumerator + " is no enumerator of " + tags->name);
      const auto is_field = [&name = member](const c::Field& field) { return field.name == name; };
      inspection.require(std::any_of(fields.begin(), fields.end(), is_field), part, "it has no member " + member);
      const Part* own = find_part(parts, member);
      inspection.require(
          own == nullptr || !std::holds_alternative<meaning::CpuMask>(inspection.api.role(own->path).meaning), part,
          "its member " + member + " is a mask of CPUs, which says what stands beside it");
      if (known == tags->enumerators.end()) continue;
      const auto [first, is_new] = by_value.emplace(known->value, member);
      inspection.require(is_new, part, first->second + " and " + member + " stand for the same value of the tag");
    }
    for (const c::Field& field : fields) {
      const auto is_it = [&](const auto& pair) { return pair.first == field.name; };
      const bool named = std::any_of(tagged->members.begin(), tagged->members.end(), is_it);
      inspection.require(named, part, "no enumerator of the tag stands for member " + field.name);
    }
  });
}

}  // namespace bindgen
