#include "check/rules.hpp"

#include <span>
#include <utility>
#include <vector>

namespace bindgen {
namespace {

struct Rule {
  const char* name;
  void (*inspect)(Inspection&);
};

// The other rules presume that these hold.
constexpr Rule kFirstRules[] = {
    {"names-are-usable", &names_are_usable},
    {"types-are-declared", &types_are_declared},
    {"declarations-can-be-repeated", &declarations_can_be_repeated},
    {"structs-are-plain", &structs_are_plain},
    {"meanings-fit-types", &meanings_fit_types},
    {"bit-fields-are-values", &bit_fields_are_values},
    {"chosen-structs-are-known", &chosen_structs_are_known},
    {"returns-can-be-told", &returns_can_be_told},
    {"constants-can-be-told", &constants_can_be_told},
};

// Needs the rules above to hold. The rules below walk from struct to struct, which this one shows to come to an end.
constexpr Rule kStructRules[] = {
    {"structs-are-finite", &structs_are_finite},
};

constexpr Rule kRules[] = {
    {"defaults-are-possible", &defaults_are_possible},
    {"bounds-are-possible", &bounds_are_possible},
    {"texts-are-possible", &texts_are_possible},
    {"handle-values-are-declared", &handle_values_are_declared},
    {"handle-values-are-kept", &handle_values_are_kept},
    {"references-name-siblings", &references_name_siblings},
    {"unions-are-covered", &unions_are_covered},
    {"streams-are-complete", &streams_are_complete},
    {"userdata-is-for-one-stream", &userdata_is_for_one_stream},
    {"handles-are-of-one-type", &handles_are_of_one_type},
    {"pairs-are-of-parameters", &pairs_are_of_parameters},
    {"outs-are-of-parameters", &outs_are_of_parameters},
    {"told-only-are-fields", &told_only_are_fields},
    {"changed-counts-are-of-the-library", &changed_counts_are_of_the_library},
    {"elements-have-an-end", &elements_have_an_end},
    {"open-ends-stay-empty", &open_ends_stay_empty},
    {"wholes-are-open-ends", &wholes_are_open_ends},
    {"groups-are-whole", &groups_are_whole},
    {"lengths-are-derivable", &lengths_are_derivable},
    {"referred-functions-exist", &referred_functions_exist},
    {"declared-arrays-are-whole", &declared_arrays_are_whole},
    {"functions-can-be-so", &functions_can_be_so},
    {"wire-names-are-different", &wire_names_are_different},
};

void inspect(const Api& api, std::span<const Rule> rules) {
  std::vector<Diagnostic> complaints;
  for (const Rule& rule : rules) {
    Inspection inspection(api, rule.name, complaints);
    rule.inspect(inspection);
  }
  if (!complaints.empty()) throw Refusal(std::move(complaints));
}

}  // namespace

void check(const Api& api) {
  inspect(api, kFirstRules);
  inspect(api, kStructRules);
  inspect(api, kRules);
}

}  // namespace bindgen
