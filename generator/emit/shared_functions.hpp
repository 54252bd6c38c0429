// The functions and structs of several versions, each once, with what it is in each version.
#pragma once

#include "emit/several_versions.hpp"
#include "meaning/walk.hpp"

#include <optional>
#include <string>
#include <vector>

namespace bindgen {

struct SharedFunction {
  std::string name;
  std::vector<const c::Function*> in;  // for each set; null where it is no method

  Mask mask() const;
};
std::vector<SharedFunction> shared_functions(const std::vector<Api>& sets);

struct SharedRecord {
  std::string path;                            // under the name that the struct has now
  std::string cpp_name;                        // `path` with "_" for "."
  std::vector<std::optional<NamedRecord>> in;  // for each set

  Mask mask() const;
};
// Inner ones before the outer one.
std::vector<SharedRecord> shared_records(const std::vector<Api>& sets);

// "AnyPoint", the concept of such a struct in any version.
std::string concept_of(const SharedRecord& record);

// True if in any version any part of the record, or of a struct inside it, satisfies the predicate.
using PartPredicate = bool (*)(const Part&, const Role&);
bool any_part_in(const std::vector<Api>& sets, const SharedRecord& record, PartPredicate predicate);
// The same of the struct of this name in this set.
bool any_part_in(const std::vector<Api>& sets, const Api& api, const std::string& path, PartPredicate predicate);

// What generated code does with a struct, besides reading and writing it, because of a part of it:
bool is_left_undefined(const Part& part, const Role& role);  // fill_undefined()
bool has_wire_default(const Part& part, const Role& role);   // set_wire_defaults()
bool is_remembered(const Part& part, const Role& role);      // remember()

}  // namespace bindgen
