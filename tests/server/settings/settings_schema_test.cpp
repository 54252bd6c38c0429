// The schema that editors check a settings file with, beside the reader of the file.
#include "settings/table.hpp"

#include "chat/structured/json_schema.hpp"
#include "settings/setting.hpp"

#include "support/catch.hpp"

#include <string>
#include <string_view>
#include <variant>
#include <vector>

using namespace rkllm_mcp;
using chat::JsonSchema;

namespace {

// The schema of one setting: "tools.google.cx" is in tools, in google.
Json schema_of_setting(const Setting& setting) {
  static const Json whole = settings_schema();
  const Json* at = &whole;
  std::string_view rest = setting.section;
  for (;;) {
    const auto dot = rest.find('.');
    at = &at->at("properties").at(std::string(rest.substr(0, dot)));
    if (dot == std::string_view::npos) break;
    rest.remove_prefix(dot + 1);
  }
  return setting.key.empty() ? *at : at->at("properties").at(std::string(setting.key));
}

// Of texts that have to be an address a schema says less than the reader does.
bool has_form_of_its_own(const Setting& setting) {
  if (const auto* const text = std::get_if<TextField>(&setting.field)) return text->form != TextField::Form::kAny;
  const auto* const list = std::get_if<ListField>(&setting.field);
  return list != nullptr && list->form == ListField::Form::kNetworks;
}

std::vector<Json> values_of_all_types() {
  std::vector<Json> values{nullptr, true, 0, 1, -1, 1.5, 1e300};
  for (const char* const text :
       {"", "x", "600", "0600", "888", "http://a", "HTTPS://hub.example/x", "ftp://a", "127.0.0.1", "::1"}) {
    values.emplace_back(text);
  }
  for (const char* const text : {"[]", R"(["x"])", "[1]", R"(["x",null])", "{}", R"({"x":1})", R"({"x":"y"})",
                                 R"({"x":{}})", R"({"x":{"none":1}})", R"({"x":{"url":"u","command":"c"}})"}) {
    values.push_back(Json::parse(text));
  }
  return values;
}

// Those that its own kind of setting is to be tried with.
struct OwnValues {
  std::vector<Json> operator()(const BoolField&) const { return {false}; }
  std::vector<Json> operator()(const IntegerField& field) const {
    return {field.min, field.max, field.min - 1, field.max + 1, std::to_string(field.min)};
  }
  std::vector<Json> operator()(const TextField&) const { return {}; }
  std::vector<Json> operator()(const ChoiceField& field) const { return {field.words.begin(), field.words.end()}; }
  std::vector<Json> operator()(const ListField& field) const {
    std::vector<Json> values;
    for (const std::string_view word : field.words) {
      values.push_back(Json::array({word}));
      values.push_back(Json::array({word, "x"}));
    }
    return values;
  }
  std::vector<Json> operator()(const NamedField& field) const {
    std::vector<Json> values;
    for (const auto& member : field.members) {
      for (const Json& value : values_of_all_types()) {
        Json entry{{std::string(member.name), value}};
        values.push_back(Json{{"n", entry}});
        if (field.either.empty() || entry.contains(field.either.front())) continue;
        entry[std::string(field.either.front())] = "x";
        values.push_back(Json{{"n", entry}});
      }
      for (const std::string_view word : member.words) {
        values.push_back(Json{{"n", {{"url", "u"}, {std::string(member.name), word}}}});
      }
    }
    return values;
  }
  std::vector<Json> operator()(const TextMapField&) const { return {}; }
};

}  // namespace

TEST_CASE("the schema of the settings takes what the reader takes, and refuses what it refuses") {
  std::size_t taken = 0;
  for (const Setting& setting : settings_table()) {
    const JsonSchema schema(schema_of_setting(setting), "schema");
    auto values = std::visit(OwnValues{}, setting.field);
    for (const Json& value : values_of_all_types()) values.push_back(value);
    values.push_back(value_of(setting, Settings()));
    for (const Json& value : values) {
      Settings settings;
      const auto complaints = assign(setting, value, settings);
      const auto of_schema = schema.complaint(value);
      INFO(name_of(setting) << ": " << value.dump()
                            << "\nreader: " << (complaints.empty() ? "none" : complaints.front().text)
                            << "\nschema: " << of_schema.value_or("none"));
      if (complaints.empty()) {
        CHECK_FALSE(of_schema);
        ++taken;
      } else if (!value.is_string() && !value.is_array()) {
        CHECK(of_schema);
      } else if (!has_form_of_its_own(setting)) {
        CHECK(of_schema);
      }
    }
  }
  CHECK(taken > 2 * settings_table().size());
}

TEST_CASE("a setting is described by its documentation, and says whether it can be changed while the server runs") {
  for (const Setting& setting : settings_table()) {
    const std::string description = schema_of_setting(setting).at("description");
    INFO(name_of(setting));
    CHECK(description.starts_with(setting.documentation));
    CHECK(description.ends_with("(SIGHUP).") == (setting.change == Change::kWhileRunning));
    CHECK(schema_of_setting(setting).at("default") == value_of(setting, Settings()));
  }
}
