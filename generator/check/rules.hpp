// The rules that an understood API must keep before code is made from it: all of them at once, and one by one. Each
// complains of everything that breaks it.
#pragma once

#include "diagnostics.hpp"
#include "meaning/model.hpp"
#include "meaning/walk.hpp"

#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace bindgen {

// Throws Refusal with everything that breaks a rule; each complaint ends with the rule's name in brackets.
void check(const Api& api);

// One rule at work: collects complaints under the rule's name.
class Inspection {
 public:
  Inspection(const Api& inspected, const char* rule, std::vector<Diagnostic>& complaints)
      : api(inspected), rule_(rule), complaints_(complaints) {}

  void complain(const Location& at, const std::string& message) {
    complaints_.push_back(bindgen::complain(api.header, at, message + " [" + rule_ + "]"));
  }
  void require(bool condition, const Part& part, const std::string& message) {
    if (!condition) complain(part.location, part.path + ": " + message);
  }
  // Calls `function` with each part that has a meaning, and the parts beside it.
  template <class Function>
  void each_part(Function function) {
    for (const NamedRecord& record : all_records(api)) {
      const auto parts = parts_of(api, *record.record, record.path);
      for (const Part& part : parts) function(part, parts);
    }
    for (const c::Function* callable : c::all<c::Function>(api.header)) {
      const auto parts = parts_of(api, *callable);
      for (const Part& part : parts) function(part, parts);
    }
  }

  const Api& api;

 private:
  const char* rule_;
  std::vector<Diagnostic>& complaints_;
};

inline bool points_at(const c::Type& type, c::TypeKind kind) {
  return type.kind == c::TypeKind::kPointer && type.target.front().kind == kind;
}

// Calls `visit` with the type of each field, parameter, returned value and typedef, and the place of the field, the
// typedef or the function. Types are not looked into. Of a struct declared in place only the fields are visited.
using TypeVisitor = std::function<void(const c::Type& type, const Location& at)>;
void each_type(const c::Header& header, const TypeVisitor& visit);

// name_rules.cpp
void names_are_usable(Inspection& inspection);
// type_rules.cpp
void types_are_declared(Inspection& inspection);
void meanings_fit_types(Inspection& inspection);
void returns_can_be_told(Inspection& inspection);
void constants_can_be_told(Inspection& inspection);
// declaration_rules.cpp
void declarations_can_be_repeated(Inspection& inspection);
// layout_rules.cpp
void structs_are_plain(Inspection& inspection);
void bit_fields_are_values(Inspection& inspection);
// changed.cpp
// Complains of fields of `record` that a client gives and that lead to memory that is not const: `frees` would free it.
void inspect_left_pointers(Inspection& inspection, const NamedRecord& record, const std::string& frees);
void changed_counts_are_of_the_library(Inspection& inspection);
// struct_rules.cpp
// The struct that a part holds or points at, or of which it is an array, if it is told.
std::optional<NamedRecord> struct_in(const Api& api, const Part& part);
void structs_are_finite(Inspection& inspection);
void open_ends_stay_empty(Inspection& inspection);
void wholes_are_open_ends(Inspection& inspection);
// value_rules.cpp
void defaults_are_possible(Inspection& inspection);
void bounds_are_possible(Inspection& inspection);
void texts_are_possible(Inspection& inspection);
// part_rules.cpp
void handle_values_are_declared(Inspection& inspection);
void handle_values_are_kept(Inspection& inspection);
void references_name_siblings(Inspection& inspection);
void pairs_are_of_parameters(Inspection& inspection);
void outs_are_of_parameters(Inspection& inspection);
void told_only_are_fields(Inspection& inspection);
void elements_have_an_end(Inspection& inspection);
void chosen_structs_are_known(Inspection& inspection);
void groups_are_whole(Inspection& inspection);
void lengths_are_derivable(Inspection& inspection);
// union_rules.cpp
void unions_are_covered(Inspection& inspection);
// stream_rules.cpp
void streams_are_complete(Inspection& inspection);
void userdata_is_for_one_stream(Inspection& inspection);
// wire_name_rules.cpp
void wire_names_are_different(Inspection& inspection);
// function_rules.cpp
void handles_are_of_one_type(Inspection& inspection);
void referred_functions_exist(Inspection& inspection);
void declared_arrays_are_whole(Inspection& inspection);
void functions_can_be_so(Inspection& inspection);

// --- names that C allows and generated code cannot declare

// Nothing may be called so, fields and parameters included.
bool is_word_of_cpp20(const std::string& name);
// A macro of the standard headers of C, or of what else the support headers include: it would replace the name.
bool is_macro_of_c(const std::string& name);

// What a name is declared as. More names are refused for a constant than for a function, which a table calls.
enum class Declares { kType, kConstant, kFunction, kParam };
// Whether generated code means something else by this name, beside what the header declares.
bool is_of_generated_code(const std::string& name, Declares declares);

}  // namespace bindgen
