#include "settings/table.hpp"

#include "support/catch.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

using namespace rkllm_mcp;

TEST_CASE("no two settings share a name or a variable") {
  std::set<std::string> names;
  std::set<std::string> variables;
  for (const Setting& setting : settings_table()) {
    CHECK(names.insert(name_of(setting)).second);
    CHECK(variables.insert(variable_of(setting)).second);
    CHECK(find_setting(name_of(setting)) == &setting);
  }
}

TEST_CASE("behind each limit of the runtime library is a setting of its own") {
  std::set<std::string_view> names;
  for (const std::string_view name : kSettingOfLimit) {
    INFO(name);
    CHECK(find_setting(name) != nullptr);
    CHECK(names.insert(name).second);
  }
}

TEST_CASE("a number's unit is that of its name and of its documentation, and a refusal tells it") {
  struct Told {
    Unit unit;
    std::string_view in_name, in_words;
  };
  constexpr std::array<Told, 4> kUnits{{{Unit::kSeconds, "_s_", " seconds "},
                                        {Unit::kMilliseconds, "_ms_", " milliseconds "},
                                        {Unit::kBytes, "_bytes_", " bytes "},
                                        {Unit::kDays, "_days_", " days "}}};
  for (const Setting& setting : settings_table()) {
    const auto* number = std::get_if<IntegerField>(&setting.field);
    if (number == nullptr) continue;
    INFO(name_of(setting));
    const std::string name = "_" + std::string(setting.key) + "_";
    std::string words = " " + std::string(setting.documentation);
    std::ranges::transform(words, words.begin(),
                           [](unsigned char c) { return std::isalpha(c) ? std::tolower(c) : ' '; });
    for (const Told& told : kUnits) {
      INFO(told.in_words);
      CHECK((name.find(told.in_name) != std::string::npos) == (number->unit == told.unit));
      CHECK((words.find(told.in_words) != std::string::npos) == (number->unit == told.unit));
    }
    CHECK((setting.key == "port") == (number->unit == Unit::kNone));
  }
  CHECK(expectation_of(*find_setting("limits.stall_s")) == "an integer from 1 to 86400 (seconds)");
  CHECK(expectation_of(*find_setting("limits.max_depth")) == "an integer from 8 to 1024");
}

TEST_CASE("every setting and section is documented in a sentence") {
  for (const Setting& setting : settings_table()) {
    INFO(name_of(setting));
    CHECK(setting.documentation.ends_with('.'));
    CHECK(documentation_of_section(setting.section).ends_with('.'));
  }
  CHECK(documentation_of_section("nowhere").empty());
}

TEST_CASE("names, variables and values on the wire are these") {
  CHECK(variable_of(*find_setting("http.port")) == "RKLLM_MCP_HTTP_PORT");
  CHECK(variable_of(*find_setting("limits.max_message_bytes")) == "RKLLM_MCP_LIMITS_MAX_MESSAGE_BYTES");
  CHECK(variable_of(*find_setting("models")) == "RKLLM_MCP_MODELS");
  const Settings built_in;
  CHECK(value_of(*find_setting("tcp.port"), built_in) == 8081);
  CHECK(value_of(*find_setting("udp.port"), built_in) == 8082);
  CHECK(value_of(*find_setting("http.port"), built_in) == 8080);
  CHECK(value_of(*find_setting("ws.port"), built_in) == 8083);
  CHECK(value_of(*find_setting("http.address"), built_in) == "127.0.0.1");
  CHECK(value_of(*find_setting("limits.max_message_bytes"), built_in) == 8388608);
  CHECK(value_of(*find_setting("stream.poll_timeout_s"), built_in) == 30);
  CHECK(value_of(*find_setting("stream.poll_wait_ms_max"), built_in) == 25000);
  CHECK(value_of(*find_setting("stream.buffer_bytes"), built_in) == 1048576);
  CHECK(value_of(*find_setting("stdio.enabled"), built_in) == "auto");
  CHECK(value_of(*find_setting("log.level"), built_in) == "info");
  CHECK(value_of(*find_setting("models"), built_in) == Json::object());
}

TEST_CASE("the nearest name is the one that was meant") {
  CHECK(nearest_name("http.prot") == "http.port");
  CHECK(nearest_name("limits.max_mesage_bytes") == "limits.max_message_bytes");
  CHECK(nearest_name("htp") == "http");
  CHECK(nearest_name(std::string(100'000, 'x') + ".y") != "");
}

TEST_CASE("a secret that is set is hidden, one that is not is shown as empty") {
  Settings settings;
  Setting secret = *find_setting("log.file");
  secret.secrecy = Secrecy::kSecret;
  CHECK(shown_value(secret, settings) == "");
  settings.log.file = "s3cret";
  CHECK(shown_value(secret, settings) == "********");
  CHECK(shown_value(*find_setting("log.file"), settings) == "s3cret");
}

TEST_CASE("of a database's address neither user nor password nor options are shown, a path is") {
  Settings settings;
  const Setting& database = *find_setting("memory.database");
  settings.memory.database = "/var/lib/a@b/memory.db";
  CHECK(shown_value(database, settings) == "/var/lib/a@b/memory.db");
  settings.memory.database = "postgresql://me:s3@c?ret@db.lan:5432/talks?password=x@y";
  CHECK(shown_value(database, settings) == "postgresql://db.lan:5432/talks");
  settings.memory.database = "postgresql:///talks?host=/run/postgresql";
  CHECK(shown_value(database, settings) == "postgresql:///talks");
}

namespace {

// Adds the names that a section of the schema describes to `described`, and those of sections within it.
void describe_section(const std::string& section, const Json& content, std::set<std::string>& described) {
  CHECK(content["additionalProperties"] == false);
  for (const auto& [key, value] : content["properties"].items()) {
    const std::string name = section + "." + key;
    INFO(name);
    CHECK(value.contains("type"));
    CHECK(value["description"].get<std::string>().size() > 10);
    if (value.contains("properties")) {
      describe_section(name, value, described);
      continue;
    }
    CHECK(value.contains("default"));
    described.insert(name);
  }
}

// A section of the written file, which may lie within another: "tools.google".
const Json& section_of(const Json& file, std::string_view section) {
  const Json* found = &file;
  for (std::size_t begin = 0; begin <= section.size();) {
    const std::size_t end = std::min(section.find('.', begin), section.size());
    found = &found->at(std::string(section.substr(begin, end - begin)));
    begin = end + 1;
  }
  return *found;
}

std::size_t count_values(const Json& section) {
  std::size_t count = 0;
  for (const auto& [key, value] : section.items()) {
    count += value.is_object() && !value.empty() ? count_values(value) : 1;  // empty: a map of the user's own names
  }
  return count;
}

}  // namespace

TEST_CASE("the schema names exactly the settings, with type, default and documentation") {
  const Json schema = settings_schema();
  const Json& sections = schema["properties"];
  std::set<std::string> described;
  for (const auto& [section, content] : sections.items()) {
    if (section == "$schema" || section == "models" || section == "upstreams") continue;
    describe_section(section, content, described);
  }
  std::set<std::string> names;
  for (const Setting& setting : settings_table()) {
    if (!setting.key.empty()) names.insert(name_of(setting));
  }
  CHECK(described == names);
  CHECK(sections["http"]["properties"]["port"]["maximum"] == 65535);
  CHECK(sections["log"]["properties"]["level"]["enum"].size() == 6);
  CHECK(sections["models"]["additionalProperties"]["additionalProperties"] == false);
  CHECK(schema["additionalProperties"] == false);
  CHECK(schema["$schema"] == "https://json-schema.org/draft/2020-12/schema");
}

TEST_CASE("the default file holds every setting with its built-in value") {
  const Json file = default_settings_file();
  CHECK(file.begin().key() == "$schema");
  CHECK(file["$schema"] == "./settings.schema.json");
  const Settings built_in;
  std::size_t count = 0;
  for (const Setting& setting : settings_table()) {
    const Json& section = section_of(file, setting.section);
    CHECK((setting.key.empty() ? section : section.at(std::string(setting.key))) == value_of(setting, built_in));
  }
  for (const auto& [section, content] : file.items())
    count += section == "models" || section == "upstreams" ? 1 : content.is_object() ? count_values(content) : 0;
  CHECK(count == settings_table().size());
}

TEST_CASE("the schema and the written file have sections within sections where they belong") {
  const Json tools = settings_schema()["properties"]["tools"];
  CHECK(tools["properties"]["google"]["properties"]["cx"]["type"] == "string");
  CHECK(tools["properties"]["google"]["additionalProperties"] == false);
  CHECK(tools["properties"]["google"]["description"] == std::string(documentation_of_section("tools.google")));
  CHECK_FALSE(settings_schema()["properties"].contains("tools.google"));
  CHECK(default_settings_file()["tools"]["google"] ==
        Json{{"url", "https://customsearch.googleapis.com/customsearch/v1"}, {"api_key", ""}, {"cx", ""}});
}
