#include "settings/load.hpp"

#include "settings/refused.hpp"
#include "settings/table.hpp"
#include "support/catch.hpp"
#include "support/process.hpp"

using namespace rkllm_mcp;
using test::TemporaryDirectory;

namespace {

// A settings file of its own in a new directory.
struct File {
  explicit File(std::string_view text) { test::write_file(path, text); }
  TemporaryDirectory directory;
  std::string path = directory / "settings.json";
};

SettingsRequest request_for(const std::string& path, Environment environment = {}, std::vector<Assignment> set = {}) {
  return {path, std::move(set), std::move(environment)};
}

Assignment set(const std::string& name, const std::string& text) { return {name, text, "--set " + name}; }

std::vector<std::string> refusal(const SettingsRequest& request) {
  try {
    load_settings(request);
  } catch (const SettingsRefused& refused) {
    return refused.lines();
  }
  return {};
}

const ValueSource& source_of(const LoadedSettings& settings, const char* name) {
  return settings.sources[static_cast<std::size_t>(find_setting(name) - settings_table().data())];
}

}  // namespace

TEST_CASE("the command line beats the environment, that the file, that the built-in values") {
  const File file("{\n\"http\": {\"port\": 1, \"header_bytes\": 2000,\n\"keep_alive_s\": 3}}");
  const auto settings = load_settings(request_for(
      file.path, {{"RKLLM_MCP_HTTP_PORT", "4"}, {"RKLLM_MCP_HTTP_HEADER_BYTES", "5000"}}, {set("http.port", "6")}));
  CHECK(settings.values.http.port == 6);
  CHECK(settings.values.http.header_bytes == 5000);
  CHECK(settings.values.http.keep_alive_s == std::chrono::seconds(3));
  CHECK(settings.values.http.header_timeout_s == Settings{}.http.header_timeout_s);

  CHECK(source_of(settings, "http.port").source == Source::kCommandLine);
  CHECK(source_of(settings, "http.port").place == "--set http.port");
  CHECK(source_of(settings, "http.header_bytes").source == Source::kEnvironment);
  CHECK(source_of(settings, "http.header_bytes").place == "RKLLM_MCP_HTTP_HEADER_BYTES");
  CHECK(source_of(settings, "http.keep_alive_s").source == Source::kFile);
  CHECK(source_of(settings, "http.keep_alive_s").place == file.path + ":3");
  CHECK(source_of(settings, "http.header_timeout_s").source == Source::kBuiltIn);
  CHECK(settings.file == file.path);
  CHECK(settings.warnings.empty());
}

TEST_CASE("of two values on the command line the later one counts") {
  CHECK(load_settings({"/nowhere/s.json", {set("tcp.port", "1"), set("tcp.port", "2")}, {}}).values.tcp.port == 2);
}

TEST_CASE("without any source the built-in values hold") {
  const auto settings = load_settings({"/nowhere/settings.json", {}, {}});
  CHECK(settings.file.empty());
  for (const Setting& setting : settings_table())
    CHECK(value_of(setting, settings.values) == value_of(setting, Settings{}));
}

TEST_CASE("every setting can be given by its variable and on the command line") {
  const Settings built_in;
  for (const Setting& setting : settings_table()) {
    const Json value = value_of(setting, built_in);
    const std::string text = value.is_string() ? value.get<std::string>() : value.dump();
    INFO(name_of(setting));
    const auto settings = load_settings({"/nowhere/s.json", {}, {{variable_of(setting), text}}});
    CHECK(source_of(settings, name_of(setting).c_str()).source == Source::kEnvironment);
    CHECK(value_of(setting, settings.values) == value);
    CHECK(refusal({"/nowhere/s.json", {set(name_of(setting), text)}, {}}).empty());
  }
}

TEST_CASE("what is wrong with a file is told at once, with line, path and the nearest valid key") {
  const File file(R"({
  "$schema": "./settings.schema.json",
  "http": {
    "prot": 8080,
    "port": 70000
  },
  "htpp": {},
  "tcp": 3,
  "log": {"level": "loud"},
  "models": {
    "small": {
      "parm": {}
    }
  }
})");
  const auto lines = refusal(request_for(file.path));
  REQUIRE(lines.size() == 6);
  CHECK(lines[0] == file.path + ":4: http.prot: unknown key; the nearest valid key is http.port");
  CHECK(lines[1] == file.path + ":5: http.port: expected an integer from 0 to 65535, found 70000");
  CHECK(lines[2] == file.path + ":7: htpp: unknown key; the nearest valid key is http");
  CHECK(lines[3] == file.path + ":8: tcp: expected an object, found 3");
  CHECK(lines[4] ==
        file.path + ":9: log.level: expected one of trace, debug, info, warning, error, off, found \"loud\"");
  CHECK(lines[5] == file.path + ":12: models.small.parm: unknown key; the nearest valid key is models.small.param");
}

TEST_CASE("a file that is not JSON is refused with line and column") {
  const File file("{\n  \"http\": {,}\n}");
  const auto lines = refusal(request_for(file.path));
  REQUIRE(lines.size() == 1);
  CHECK_THAT(lines[0], Catch::Matchers::StartsWith(file.path + ":2:12: not JSON: "));
}

TEST_CASE("a file that holds only some settings keeps working") {
  const File file(R"({"ws": {"port": 1}})");
  const auto settings = load_settings(request_for(file.path));
  CHECK(settings.values.ws.port == 1);
  CHECK(settings.values.http.port == Settings{}.http.port);
  CHECK(test::read_file(file.path) == R"({"ws": {"port": 1}})");
}

TEST_CASE("a directory in the place of the file is refused") {
  const TemporaryDirectory directory;
  CHECK(refusal(request_for(directory.path())) == std::vector<std::string>{directory.path() + ": is a directory"});
}

TEST_CASE("a wrong variable or option is refused by its own name") {
  CHECK(refusal({"/nowhere/s.json", {}, {{"RKLLM_MCP_HTTP_PORT", "x"}}}) ==
        std::vector<std::string>{"RKLLM_MCP_HTTP_PORT: http.port: expected an integer from 0 to 65535, found \"x\""});
  CHECK(refusal({"/nowhere/s.json", {set("http.prot", "1")}, {}}) ==
        std::vector<std::string>{"--set http.prot: http.prot: unknown key; the nearest valid key is http.port"});
}

TEST_CASE("an unknown variable with our prefix is warned of, since it may be another program's") {
  const auto settings =
      load_settings({"/nowhere/s.json", {}, {{"RKLLM_MCP_HTPP_PORT", "1"}, {"RKLLM_MCP_SETTINGS", "x"}}});
  CHECK(settings.warnings ==
        std::vector<std::string>{"RKLLM_MCP_HTPP_PORT: no such setting; the nearest is RKLLM_MCP_HTTP_PORT"});
}

TEST_CASE("an address that other machines reach is refused unless that is said to be wanted") {
  const File file("{\n\"tcp\": {\n\"address\": \"0.0.0.0\"}}");
  const auto lines = refusal(request_for(file.path));
  REQUIRE(lines.size() == 1);
  CHECK(lines[0] ==
        file.path +
            ":3: tcp.address: 0.0.0.0 can be reached from other machines, and no access token is asked for; use "
            "127.0.0.1 or ::1, or name a file in auth.tokens, or accept it with auth.insecure=true");
  CHECK(refusal(request_for(file.path, {}, {set("auth.tokens", "/some/file")})).empty());
  CHECK(refusal(request_for(file.path, {}, {set("auth.insecure", "true")})).empty());
  CHECK(refusal(request_for(file.path, {}, {set("tcp.enabled", "false")})).empty());
  for (const char* name : {"udp.address", "http.address", "ws.address"}) {
    for (const char* address : {"192.168.1.2", "::", "fe80::1", "::ffff:10.0.0.1"}) {
      CHECK(refusal({"/nowhere/s.json", {set(name, address)}, {}}).size() == 1);
    }
    for (const char* address : {"127.0.0.1", "127.1.2.3", "::1", "::ffff:127.0.0.1"}) {
      CHECK(refusal({"/nowhere/s.json", {set(name, address)}, {}}).empty());
    }
  }
}

TEST_CASE("the report names value, origin and place of every setting") {
  const Json report = settings_report(load_settings({"/nowhere/s.json", {set("http.port", "9")}, {}}));
  CHECK(report["file"].is_null());
  CHECK(report["values"].size() == settings_table().size());
  CHECK(report["values"]["http.port"] == Json{{"value", 9}, {"origin", "command line"}, {"place", "--set http.port"}});
  CHECK(report["values"]["tcp.port"] == Json{{"value", 8081}, {"origin", "built-in"}, {"place", "built-in"}});
}

TEST_CASE("a reload takes over what can change while running and names the rest") {
  Settings running;
  Settings fresh;
  fresh.log.level = LogLevel::kDebug;
  fresh.http.port = 9;
  const auto result = reload(running, fresh);
  CHECK(result.changed == std::vector<std::string>{"log.level"});
  CHECK(result.need_restart == std::vector<std::string>{"http.port"});
  CHECK(running.log.level == LogLevel::kDebug);
  CHECK(running.http.port == Settings{}.http.port);
}

TEST_CASE("a reload takes over all by which models are named") {
  Settings running;
  running.chat.aliases = Json{{"old", "a"}};
  Settings fresh;
  fresh.models = Json{{"a", {{"param", {{"model_path", "/models/a.rkllm"}}}}}};
  fresh.chat.aliases = Json{{"new", "a"}};
  fresh.chat.any_model = "a";
  const auto result = reload(running, fresh);
  CHECK(result.changed == std::vector<std::string>{"models", "chat.aliases", "chat.any_model"});
  CHECK(result.need_restart.empty());
  CHECK(running.models == fresh.models);
  CHECK(running.chat.aliases == Json{{"new", "a"}});  // those before are gone
  CHECK(running.chat.any_model == "a");
}

TEST_CASE("a section within a section is read, and its mistakes are told with their place") {
  const File file(
      "{\"tools\": {\"timeout_s\": 7,\n\"google\": {\"cx\": \"id\"},\n\"searxng\": {\"url\": \"http://x/\"}}}");
  const auto settings = load_settings(request_for(file.path, {{"RKLLM_MCP_TOOLS_GOOGLE_API_KEY", "key"}}));
  CHECK(settings.values.tools.timeout_s == std::chrono::seconds(7));
  CHECK(settings.values.tools.google_cx == "id");
  CHECK(settings.values.tools.google_api_key == "key");
  CHECK(settings.values.tools.searxng_url == "http://x/");
  CHECK(source_of(settings, "tools.google.cx").place == file.path + ":2");
  CHECK(settings_report(settings)["values"]["tools.google.api_key"]["value"] == "********");

  const File wrong("{\"tools\": {\"google\": {\"cxx\": 1},\n\"searxng\": 5},\n\"tools.google\": {\"cx\": \"x\"}}");
  const auto lines = refusal(request_for(wrong.path));
  REQUIRE(lines.size() == 3);
  CHECK(lines[0] == wrong.path + ":1: tools.google.cxx: unknown key; the nearest valid key is tools.google.cx");
  CHECK(lines[1] == wrong.path + ":2: tools.searxng: expected an object, found 5");
  CHECK_THAT(lines[2], test::has_text(wrong.path + ":3: tools.google: unknown key"));
}

TEST_CASE("addresses of the web and networks are checked") {
  const File file("{}");
  const auto complaint = [&](const std::string& name, const std::string& value) {
    const auto lines = refusal(request_for(file.path, {}, {set(name, value)}));
    return lines.size() == 1 ? lines[0] : std::to_string(lines.size()) + " complaints";
  };
  CHECK_THAT(complaint("tools.duckduckgo.url", ""), test::has_text("expected an address such as https://"));
  CHECK_THAT(complaint("tools.searxng.url", "example.org"), test::has_text("or nothing"));
  CHECK_THAT(complaint("tools.allowed_addresses", "10.0.0.0/33"), test::has_text("192.168.1.0/24"));
  CHECK(load_settings(request_for(file.path, {}, {set("tools.allowed_addresses", "10.0.0.0/8,fd00::/8")}))
            .values.tools.allowed_addresses.size() == 2);
}
