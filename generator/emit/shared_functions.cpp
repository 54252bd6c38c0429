#include "emit/shared_functions.hpp"

#include "emit/parts.hpp"

#include <algorithm>

namespace bindgen {
namespace {

// The names of all sets as one list that keeps the order of each.
std::vector<std::string> merged_names(const std::vector<std::vector<std::string>>& of_sets) {
  std::vector<std::vector<Piece>> pieces;
  for (const auto& names : of_sets) {
    pieces.emplace_back();
    for (const std::string& name : names) pieces.back().push_back({name, {}});
  }
  std::vector<std::string> merged;
  for (const MergedPiece& each : merge(pieces)) {
    const auto& name = each.piece.key;
    if (std::find(merged.begin(), merged.end(), name) == merged.end()) merged.push_back(name);
  }
  return merged;
}

template <class Pointers>
Mask mask_of(const Pointers& in) {
  Mask mask;
  for (const auto& each : in) mask.push_back(static_cast<bool>(each));
  return mask;
}

}  // namespace

Mask SharedFunction::mask() const { return mask_of(in); }
Mask SharedRecord::mask() const { return mask_of(in); }

std::vector<SharedFunction> shared_functions(const std::vector<Api>& sets) {
  std::vector<std::vector<std::string>> names;
  for (const Api& api : sets) {
    names.emplace_back();
    for (const c::Function* function : methods_of(api)) names.back().push_back(function->name);
  }
  std::vector<SharedFunction> shared;
  for (const std::string& name : merged_names(names)) {
    SharedFunction function{name, {}};
    for (const Api& api : sets) {
      const auto found = api.functions.find(name);
      const bool is_here = found != api.functions.end() && found->second.is_method;
      function.in.push_back(is_here ? c::find<c::Function>(api.header, name) : nullptr);
    }
    shared.push_back(std::move(function));
  }
  return shared;
}

std::vector<SharedRecord> shared_records(const std::vector<Api>& sets) {
  std::vector<std::vector<std::string>> paths;
  for (const Api& api : sets) {
    paths.emplace_back();
    for (const NamedRecord& record : all_records(api)) paths.back().push_back(present_path(api, record.path));
  }
  std::vector<SharedRecord> shared;
  for (const std::string& path : merged_names(paths)) {
    SharedRecord record{path, cpp_name_of({}, path), std::vector<std::optional<NamedRecord>>(sets.size())};
    for (std::size_t set = 0; set < sets.size(); ++set) {
      for (const NamedRecord& each : all_records(sets[set])) {
        if (present_path(sets[set], each.path) == path) record.in[set] = each;
      }
    }
    shared.push_back(std::move(record));
  }
  return shared;
}

std::string concept_of(const SharedRecord& record) { return "Any" + record.cpp_name; }

bool any_part_in(const std::vector<Api>& sets, const SharedRecord& record, PartPredicate predicate) {
  for (std::size_t set = 0; set < sets.size(); ++set) {
    if (record.in[set] && any_part(sets[set], *record.in[set]->record, record.in[set]->path, predicate)) return true;
  }
  return false;
}

bool any_part_in(const std::vector<Api>& sets, const Api& api, const std::string& path, PartPredicate predicate) {
  const std::string present = present_path(api, path);
  for (const SharedRecord& record : shared_records(sets)) {
    if (record.path == present) return any_part_in(sets, record, predicate);
  }
  return false;
}

bool is_left_undefined(const Part&, const Role& role) { return std::holds_alternative<meaning::CpuMask>(role.meaning); }
bool has_wire_default(const Part&, const Role& role) { return role.wire_default.has_value(); }
bool is_remembered(const Part&, const Role& role) { return !role.remembered_as.empty(); }

}  // namespace bindgen
