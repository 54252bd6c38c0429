#include "check/rules.hpp"

#include "emit/parts.hpp"

#include <optional>
#include <set>

namespace bindgen {
namespace {

bool is_array_of_structs(const Api& api, const Part& part) {
  return std::holds_alternative<meaning::Array>(api.role(part.path).meaning) && !part.type->target.empty() &&
         part.type->target.front().kind == c::TypeKind::kRecord;
}

// The struct that a part holds or points at, if it is told.
std::optional<NamedRecord> struct_in(const Api& api, const Part& part) {
  const Meaning& meaning = api.role(part.path).meaning;
  const bool is_told = holds_record(api, part) || std::holds_alternative<meaning::Object>(meaning) ||
                       std::holds_alternative<meaning::Batch>(meaning) ||
                       std::holds_alternative<meaning::Callbacks>(meaning) || is_array_of_structs(api, part);
  return is_told ? std::optional(record_of(api, part)) : std::nullopt;
}

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

}  // namespace

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
