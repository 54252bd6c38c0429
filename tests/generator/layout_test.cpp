// What is read from the header of each version, against a table of the published interface that was made without this
// generator: every name, type, value, signature, size and offset, for both pointer sizes.
#include "support/catch.hpp"
#include "temporary.hpp"

#include "bindgen_json.hpp"
#include "read/declaration.hpp"
#include "read/header.hpp"

using namespace bindgen;

namespace {

Json pair(const Layout& layout) { return {layout.on_64_bit, layout.on_32_bit}; }

void flatten(const c::Record& record, Json& flat) {
  for (const c::Field& field : record.fields) {
    const bool is_inline = !field.inline_record.empty();
    const std::string type = !is_inline                             ? spelling(field.type)
                             : field.inline_record.front().is_union ? "union"
                                                                    : "struct";
    flat.push_back({field.name, type, pair(field.offset), pair(field.type.size)});
    if (is_inline) flatten(field.inline_record.front(), flat);
  }
}

// The header in the form of the table.
class Table {
 public:
  explicit Table(const c::Header& header) {
    json_ = {{"macros", Json::object()},  {"aliases", Json::array()},   {"enums", Json::object()},
             {"structs", Json::object()}, {"callbacks", Json::array()}, {"functions", Json::array()}};
    for (const c::Symbol& symbol : header.symbols) std::visit([this](const auto& any) { add(any); }, symbol);
  }
  const Json& json() const { return json_; }

 private:
  void add(const c::Macro& macro) {
    json_["macros"][macro.name] = std::visit([](const auto& value) { return Json(value); }, macro.value);
  }
  void add(const c::Alias& alias) { json_["aliases"].push_back(declaration(alias)); }
  void add(const c::Enum& entity) {
    Json enumerators = Json::array();
    for (const c::Enumerator& one : entity.enumerators) enumerators.push_back({one.name, one.value});
    json_["enums"][entity.name] = {{"type", spelling(entity.underlying)},
                                   {"size", pair(entity.underlying.size)},
                                   {"enumerators", std::move(enumerators)}};
  }
  void add(const c::Record& record) {
    Json flat = Json::array();
    flatten(record, flat);
    json_["structs"][record.name] = {
        {"size", pair(record.size)}, {"align", pair(record.align)}, {"fields", std::move(flat)}};
  }
  void add(const c::Opaque& opaque) { FAIL("an opaque struct: " << opaque.name); }
  void add(const c::Callback& callback) { json_["callbacks"].push_back(declaration(callback)); }
  void add(const c::Function& function) { json_["functions"].push_back(declaration(function)); }

  Json json_;
};

std::vector<std::string> names_of(const Json& members) {
  std::vector<std::string> names;
  for (const auto& [name, value] : members.items()) names.push_back(name);
  return names;
}

}  // namespace

TEST_CASE("the header of each version says exactly what the published interface says, for 64 and 32 bit") {
  for (const std::string version : test::kVersions) {
    INFO(version);
    const Json expected =
        Json::parse(read_text(std::string(REPOSITORY) + "/tests/generator/data/layout_" + version + ".json"));
    const Json actual = Table(read_header(test::header_of(version))).json();
    for (const char* kind : {"macros", "aliases", "enums", "callbacks", "functions"}) {
      INFO(kind);
      CHECK(actual.at(kind) == expected.at(kind));
    }
    CHECK(names_of(actual.at("structs")) == names_of(expected.at("structs")));
    for (const auto& [name, layout] : expected.at("structs").items()) {
      INFO(name);
      REQUIRE(actual.at("structs").contains(name));
      CHECK(actual.at("structs").at(name) == layout);
    }
  }
}
