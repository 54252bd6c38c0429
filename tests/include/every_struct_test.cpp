// What is read into a struct and written again is the same: for every struct of every ABI set, with the samples of
// struct_samples.json.
#include "round_trip.hpp"
#include "support/catch.hpp"
#include "types_of_sets.hpp"

#include <algorithm>
#include <fstream>
#include <set>
#include <string>

using namespace rkllm_mcp;
using rkllm_mcp::test::round_trip;
using rkllm_mcp::test::Travels;

namespace {

Json all_samples() {
  std::ifstream file(STRUCT_SAMPLES);
  return Json::parse(file);
}

// Versions from old to new: how many are older than this one.
std::ptrdiff_t age_of(std::string_view version) {
  const auto found = std::find_if(std::begin(kAbiSets), std::end(kAbiSets),
                                  [&](const AbiSet* set) { return set->version == version; });
  REQUIRE(found != std::end(kAbiSets));
  return found - std::begin(kAbiSets);
}

bool is_for(const Json& sample, std::string_view version) {
  const auto age = age_of(version);
  return (!sample.contains("since") || age >= age_of(sample.at("since").get<std::string>())) &&
         (!sample.contains("until") || age <= age_of(sample.at("until").get<std::string>()));
}

}  // namespace

TEST_CASE("every struct of every version survives a round trip") {
  const Json samples = all_samples();
  test::for_each_struct([&]<class T>(std::string_view version, const std::string& name, TypeTag<T>) {
    if constexpr (Travels<T>) {
      INFO(version << " " << name);
      REQUIRE(samples.contains(name));
      int tried = 0;
      for (const Json& sample : samples.at(name)) {
        if (!is_for(sample, version)) continue;
        const Json& value = sample.at("value");
        INFO(value);
        CHECK(round_trip<T>(value) == sample.value("written", value));
        ++tried;
      }
      CHECK(tried > 0);  // else this version's shape of the struct has no sample
    }
  });
}

TEST_CASE("only structs of callbacks have no JSON") {
  std::set<std::string> without;
  test::for_each_struct([&]<class T>(std::string_view, const std::string& name, TypeTag<T>) {
    if (!Travels<T>) without.insert(name);
  });
  CHECK(without == std::set<std::string>{"RKLLMCallback"});
}

TEST_CASE("no sample of a struct is idle") {
  const Json samples = all_samples();
  for (const auto& [name, of_struct] : samples.items()) {
    for (const Json& sample : of_struct) {
      bool is_used = false;
      test::for_each_struct([&, wanted = name](std::string_view version, const std::string& known, auto) {
        is_used = is_used || (known == wanted && is_for(sample, version));
      });
      INFO(name << " " << sample);
      CHECK(is_used);
    }
  }
}
