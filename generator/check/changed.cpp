// Structs that a function writes into, and what a client has given in them.
#include "check/rules.hpp"

#include "emit/parts.hpp"

#include <set>
#include <string>

namespace bindgen {
namespace {

// Whether a pointer, or one behind it, leads to something that is not const; also one in an array in place.
bool leads_to_changeable(const c::Type& type) {
  if (type.kind == c::TypeKind::kArray) return leads_to_changeable(type.target.front());
  if (type.kind != c::TypeKind::kPointer) return false;
  const c::Type& target = type.target.front();
  return !target.is_const || leads_to_changeable(target);
}

bool is_told_only(const Meaning& meaning) {
  const auto* array = std::get_if<meaning::Array>(&meaning);
  return array != nullptr && array->is_told_only;
}

// Looks into the structs that one function may have changed.
class ChangedStructs {
 public:
  ChangedStructs(Inspection& inspection, const Part& changed, std::set<std::string>& told)
      : inspection_(inspection), changed_(changed), told_(told) {}

  // `record` is finite, see structs_are_finite.
  void inspect(const c::Record& record, const std::string& path) {
    const Api& api = inspection_.api;
    for (const Part& field : parts_of(api, record, path)) {
      const Meaning& meaning = api.role(field.path).meaning;
      if (is_told_only(meaning)) continue;
      const bool is_pointer = field.type->kind == c::TypeKind::kPointer;
      const auto* array = std::get_if<meaning::Array>(&meaning);
      const auto* counted = array != nullptr && is_pointer ? std::get_if<CountedBy>(&array->length) : nullptr;
      if (counted != nullptr && told_.insert(field.path).second) refuse(field, counted->count);
      // Where the function cannot write, all is as it was given.
      if (is_pointer && field.type->target.front().is_const) continue;
      if (const auto inner = struct_in(api, field)) inspect(*inner->record, inner->path);
    }
  }

 private:
  void refuse(const Part& field, const std::string& count) {
    inspection_.complain(field.location, field.path + ": a client gives it, and once " + changed_.path +
                                             " has changed, " + count +
                                             " may count more than was given; say \"told_only\" if only the function "
                                             "leaves something here, or \"unused\"");
  }

  Inspection& inspection_;
  const Part& changed_;
  std::set<std::string>& told_;
};

}  // namespace

// How long an array is that a client has given is known from what was given, not from what the function says
// afterwards.
void changed_counts_are_of_the_library(Inspection& inspection) {
  const Api& api = inspection.api;
  std::set<std::string> told;
  for (const c::Function* function : methods_of(api)) {
    for (const Part& part : parts_of(api, *function)) {
      const Meaning& meaning = api.role(part.path).meaning;
      ChangedStructs structs(inspection, part, told);
      if (const auto* chosen = std::get_if<meaning::OutChosen>(&meaning)) {
        for (const auto& [enumerator, name] : chosen->structs) {
          const auto* record = c::find<c::Record>(api.header, name);
          if (record != nullptr) structs.inspect(*record, record->name);
        }
      }
      const auto record = is_left(meaning) ? struct_in(api, part) : std::nullopt;
      if (record) structs.inspect(*record->record, record->path);
    }
  }
}

void inspect_left_pointers(Inspection& inspection, const NamedRecord& record, const std::string& frees) {
  for (const Part& field : parts_of(inspection.api, *record.record, record.path)) {
    const Meaning& meaning = inspection.api.role(field.path).meaning;
    if (is_told_only(meaning) || !is_on_wire(meaning)) continue;
    inspection.require(!leads_to_changeable(*field.type), field,
                       "what a client gives here " + frees + " would free; say \"told_only\", or \"unused\"");
    const auto inner = struct_in(inspection.api, field);
    if (inner) inspect_left_pointers(inspection, *inner, frees);
  }
}

}  // namespace bindgen
