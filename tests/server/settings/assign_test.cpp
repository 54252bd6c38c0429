#include "settings/setting.hpp"

#include "settings/table.hpp"

#include "support/catch.hpp"

#include <string>

using namespace rkllm_mcp;

namespace {

// What is wrong with the value, "" if it was taken.
std::string complaint(const char* name, const Json& value, Settings& settings) {
  const auto complaints = assign(*find_setting(name), value, settings);
  return complaints.empty() ? "" : complaints.front().path + ": " + complaints.front().text;
}

std::string complaint_about_text(const char* name, const char* text, Settings& settings) {
  const auto complaints = assign_text(*find_setting(name), text, settings);
  return complaints.empty() ? "" : complaints.front().path + ": " + complaints.front().text;
}

}  // namespace

TEST_CASE("a value of the right type and range is taken") {
  Settings settings;
  CHECK(complaint("http.port", 65535, settings).empty());
  CHECK(settings.http.port == 65535);
  CHECK(complaint("http.enabled", false, settings).empty());
  CHECK_FALSE(settings.http.enabled);
  CHECK(complaint("stream.poll_timeout_s", 7, settings).empty());
  CHECK(settings.stream.poll_timeout_s == std::chrono::seconds(7));
  CHECK(complaint("log.format", "json", settings).empty());
  CHECK(settings.log.format == LogFormat::kJson);
  CHECK(complaint("http.allowed_hosts", {"a.example", "b.example"}, settings).empty());
  CHECK(settings.http.allowed_hosts == std::vector<std::string>{"a.example", "b.example"});
  CHECK(complaint("models", {{"small", {{"param", {{"top_k", 1}}}, {"autoload", true}}}}, settings).empty());
  CHECK(settings.models["small"]["param"]["top_k"] == 1);
}

TEST_CASE("a refused value changes nothing and is named with what was expected") {
  Settings settings;
  const auto refused = [&](const char* name, const Json& value) {
    const Json before = value_of(*find_setting(name), settings);
    const std::string text = complaint(name, value, settings);
    CHECK(value_of(*find_setting(name), settings) == before);
    return text;
  };
  CHECK(refused("http.port", 65536) == "http.port: expected an integer from 0 to 65535, found 65536");
  CHECK(refused("http.port", -1) == "http.port: expected an integer from 0 to 65535, found -1");
  CHECK(refused("http.port", 18446744073709551615ULL) ==
        "http.port: expected an integer from 0 to 65535, found 18446744073709551615");
  CHECK(refused("http.port", 80.0) == "http.port: expected an integer from 0 to 65535, found 80.0");
  CHECK(refused("http.port", "80") == "http.port: expected an integer from 0 to 65535, found \"80\"");
  CHECK(refused("http.enabled", 1) == "http.enabled: expected true or false, found 1");
  CHECK(refused("log.format", "xml") == "log.format: expected one of text, json, found \"xml\"");
  CHECK(refused("log.file", nullptr) == "log.file: expected a string, found null");
  CHECK(refused("log.file", std::string("a\0b", 3)) == "log.file: expected a string, found \"a\\u0000b\"");
  CHECK(refused("tcp.address", "localhost") ==
        "tcp.address: expected an IP address such as 127.0.0.1 or ::1, found \"localhost\"");
  CHECK(refused("mcp.tools", {"chat", "voice"}) ==
        "mcp.tools: expected an array of chat, tools, api, memory, found [\"chat\",\"voice\"]");
  CHECK(refused("http.allowed_hosts", {"a", 1}) == "http.allowed_hosts: expected an array of strings, found [\"a\",1]");
  CHECK(refused("models", {{"small", {{"parm", 1}}}}) ==
        "models.small.parm: unknown key; the nearest valid key is models.small.param");
  CHECK(refused("models", {{"small", {{"model_path", "/x"}}}}) ==
        "models.small.model_path: unknown key; the nearest valid key is models.small.param.model_path");
  CHECK(refused("models", {{"small", {{"autoload", 1}}}}) == "models.small.autoload: expected true or false, found 1");
  CHECK(refused("models", {{"small", 3}}) == "models.small: expected an object, found 3");
  CHECK(refused("upstreams", {{"a", {{"url", "tcp://a:1"}, {"command", "b"}}}}) ==
        "upstreams.a: expected one of url, command");
  CHECK(refused("upstreams", {{"a", {{"permission", "call"}}}}) == "upstreams.a: expected one of url, command");
  CHECK(refused("upstreams", {{"a", {{"url", "tcp://a:1"}, {"permission", "all"}}}}) ==
        "upstreams.a.permission: expected one of admin, call, found \"all\"");
}

TEST_CASE("plain text is read as the setting's type wants it") {
  Settings settings;
  CHECK(complaint_about_text("http.port", "81", settings).empty());
  CHECK(settings.http.port == 81);
  for (const char* text : {"false", "off", "0"}) {
    settings.tcp.enabled = true;
    CHECK(complaint_about_text("tcp.enabled", text, settings).empty());
    CHECK_FALSE(settings.tcp.enabled);
  }
  for (const char* text : {"true", "on", "1"}) {
    settings.tcp.enabled = false;
    CHECK(complaint_about_text("tcp.enabled", text, settings).empty());
    CHECK(settings.tcp.enabled);
  }
  CHECK(complaint_about_text("server.name", "7", settings).empty());
  CHECK(settings.server.name == "7");
  CHECK(complaint_about_text("http.allowed_hosts", "a.example, b.example", settings).empty());
  CHECK(settings.http.allowed_hosts == std::vector<std::string>{"a.example", "b.example"});
  CHECK(complaint_about_text("http.allowed_hosts", R"(["c,d"])", settings).empty());
  CHECK(settings.http.allowed_hosts == std::vector<std::string>{"c,d"});
  CHECK(complaint_about_text("models", R"({"m":{}})", settings).empty());
  CHECK(settings.models == Json{{"m", Json::object()}});
}

TEST_CASE("plain text that is no value of the setting is refused") {
  Settings settings;
  CHECK(complaint_about_text("http.port", "eighty", settings) ==
        "http.port: expected an integer from 0 to 65535, found \"eighty\"");
  CHECK(complaint_about_text("http.port", "", settings) ==
        "http.port: expected an integer from 0 to 65535, found \"\"");
  CHECK(complaint_about_text("tcp.enabled", "yes", settings) == "tcp.enabled: expected true or false, found \"yes\"");
  CHECK(complaint_about_text("models", "{", settings) == "models: expected an object of presets, found \"{\"");
  CHECK(complaint_about_text("server.name", "\xFF", settings) ==
        "server.name: expected a string, found bytes that are not UTF-8");
}

TEST_CASE("plain text that is JSON of any depth, or with a member twice, is refused for that") {
  Settings settings;
  for (const std::size_t levels : {std::size_t{65}, std::size_t{100'000}}) {
    const std::string text = std::string(levels, '[') + std::string(levels, ']');
    CHECK(complaint_about_text("upstreams", text.c_str(), settings) == "upstreams: nested deeper than 64 levels");
  }
  const std::string deepest = std::string(64, '[') + std::string(64, ']');
  CHECK_THAT(complaint_about_text("models", deepest.c_str(), settings), rkllm_mcp::test::has_text("found [[[["));
  CHECK(complaint_about_text("models", R"({"a":{"param":{}},"a":{}})", settings) ==
        "models: member \"a\" occurs twice in one object");
}

TEST_CASE("a secret is not repeated in a complaint") {
  Settings settings;
  Setting secret = *find_setting("http.port");
  secret.secrecy = Secrecy::kSecret;
  CHECK(assign(secret, "s3cret", settings).front().text == "expected an integer from 0 to 65535, found something else");
}

TEST_CASE("every built-in value is one that may be set") {
  const Settings built_in;
  for (const Setting& setting : settings_table()) {
    INFO(name_of(setting));
    Settings settings;
    CHECK(assign(setting, value_of(setting, built_in), settings).empty());
    CHECK(value_of(setting, settings) == value_of(setting, built_in));
  }
}
