#include "support/catch.hpp"
#include "temporary.hpp"

#include "bindgen_json.hpp"
#include "generate.hpp"
#include "read/header.hpp"

#include <algorithm>

using namespace bindgen;

namespace {

const Api& api() {
  static const Api kApi = read_api({test::kHeader, "1.3.0"}, read_overlay(test::kOverlay));
  return kApi;
}

std::size_t inline_records(const c::Record& record) {
  std::size_t count = 0;
  for (const c::Field& field : record.fields) {
    if (!field.inline_record.empty()) count += 1 + inline_records(field.inline_record.front());
  }
  return count;
}

// Those of structs and unions declared in place included.
std::size_t named_fields(const c::Record& record) {
  std::size_t count = 0;
  for (const c::Field& field : record.fields) {
    if (!field.name.empty()) ++count;
    if (!field.inline_record.empty()) count += named_fields(field.inline_record.front());
  }
  return count;
}

void check_documented(const c::Record& record) {
  for (const c::Field& field : record.fields) {
    INFO(field.name);
    CHECK((field.name.empty() || !field.documentation.text.empty()));
    if (!field.inline_record.empty()) check_documented(field.inline_record.front());
  }
}

}  // namespace

TEST_CASE("every symbol of the 1.3.0 header is read") {
  CHECK(c::all<c::Function>(api().header).size() == 15);
  CHECK(c::all<c::Record>(api().header).size() == 17);
  CHECK(c::all<c::Enum>(api().header).size() == 3);
  CHECK(c::all<c::Callback>(api().header).size() == 3);
  CHECK(c::all<c::Macro>(api().header).size() == 8);
  CHECK(c::all<c::Alias>(api().header).size() == 1);
  std::size_t nested = 0;
  for (const c::Record* record : c::all<c::Record>(api().header)) nested += inline_records(*record);
  CHECK(nested == 3);  // image, video, and the union of the inputs
}

TEST_CASE("symbols keep the order of the header") {
  std::vector<std::string> names;
  for (const c::Symbol& symbol : api().header.symbols) names.push_back(c::name_of(symbol));
  CHECK(names.front() == "CPU0");
  CHECK(names[8] == "LLMHandle");
  CHECK(names[9] == "LLMCallState");
  CHECK(names.back() == "rkllm_set_cross_attn_params");
}

TEST_CASE("every symbol of every version is read") {
  struct Counts {
    const char* version;
    std::size_t functions, records, enums, callbacks, macros, enumerators, fields;
  };
  const std::vector<Counts> expected = {
      {"1.0.0b", 4, 1, 1, 1, 0, 3, 14},    {"1.0.1", 5, 3, 1, 1, 0, 3, 21},      {"1.1.4", 10, 12, 3, 1, 0, 11, 47},
      {"1.2.0", 12, 13, 3, 1, 8, 11, 56},  {"1.2.1b1", 12, 13, 3, 1, 8, 11, 59}, {"1.2.3", 15, 15, 3, 1, 8, 11, 74},
      {"1.3.0", 15, 17, 3, 3, 8, 11, 103},
  };
  REQUIRE(expected.size() == test::kVersions.size());
  for (const Counts& counts : expected) {
    INFO(counts.version);
    const c::Header header = read_header(test::header_of(counts.version));
    CHECK(c::all<c::Function>(header).size() == counts.functions);
    CHECK(c::all<c::Record>(header).size() == counts.records);
    CHECK(c::all<c::Enum>(header).size() == counts.enums);
    CHECK(c::all<c::Callback>(header).size() == counts.callbacks);
    CHECK(c::all<c::Macro>(header).size() == counts.macros);
    CHECK(c::all<c::Alias>(header).size() == 1);
    std::size_t enumerators = 0;
    for (const c::Enum* entity : c::all<c::Enum>(header)) enumerators += entity->enumerators.size();
    CHECK(enumerators == counts.enumerators);
    std::size_t fields = 0;
    for (const c::Record* record : c::all<c::Record>(header)) fields += named_fields(*record);
    CHECK(fields == counts.fields);
  }
}

TEST_CASE("every symbol, field, parameter and enumerator of every version is documented") {
  for (const char* version : test::kVersions) {
    INFO(version);
    const c::Header header = read_header(test::header_of(version));
    for (const c::Symbol& symbol : header.symbols) {
      INFO(c::name_of(symbol));
      std::visit([](const auto& any) { CHECK_FALSE(any.documentation.text.empty()); }, symbol);
    }
    for (const c::Record* record : c::all<c::Record>(header)) {
      INFO(record->name);
      check_documented(*record);
    }
    for (const c::Function* function : c::all<c::Function>(header)) {
      INFO(function->name);
      CHECK_FALSE(function->documentation.returns.empty());
      for (const c::Param& param : function->params) CHECK_FALSE(function->documentation.of_param(param.name).empty());
    }
    for (const c::Callback* callback : c::all<c::Callback>(header)) {
      INFO(callback->name);
      for (const c::Param& param : callback->params) CHECK_FALSE(callback->documentation.of_param(param.name).empty());
    }
    for (const c::Enum* entity : c::all<c::Enum>(header)) {
      for (const c::Enumerator& enumerator : entity->enumerators) CHECK_FALSE(enumerator.documentation.text.empty());
    }
  }
}

TEST_CASE("every symbol appears in the generated code, under its own name") {
  std::string all;
  for (const File& file : emit({api()})) all += file.text;
  for (const c::Symbol& symbol : api().header.symbols) {
    INFO(c::name_of(symbol));
    CHECK(all.find(c::name_of(symbol)) != std::string::npos);
  }
}

TEST_CASE("the api as JSON holds every symbol") {
  const Json json = Json::parse(emit_api(api()).text);
  CHECK(json.at("functions").size() == 15);
  CHECK(json.at("structs").size() == 17);
  CHECK(json.at("enums").size() == 3);
  CHECK(json.at("callbacks").size() == 3);
  CHECK(json.at("constants").size() == 8);
  CHECK(json.at("handles").size() == 1);
}
