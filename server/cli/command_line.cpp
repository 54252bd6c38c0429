#include "cli/command_line.hpp"

#include "cli/exit_codes.hpp"
#include "version.hpp"

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>

#include <map>
#include <stdexcept>
#include <string_view>
#include <utility>
#include <vector>

namespace rkllm_mcp {
namespace {

constexpr const char* kDescription =
    "Rockchip's RKLLM runtime as JSON-RPC 2.0 and MCP, on stdio, TCP, UDP, HTTP and WebSocket.";

constexpr const char* kExamples = R"(Examples:
  rkllm-mcp serve
  rkllm-mcp serve --simulator --set http.port=9000
  rkllm-mcp call rkllm_init '{"param":{"model_path":"/models/qwen3.rkllm"}}'
  rkllm-mcp call --text rkllm_run_async '{"rkllm_input":{"prompt_input":"Hello"}}'
  rkllm-mcp call rkllm_is_running --to ws://127.0.0.1:8083
  rkllm-mcp connect http://board:8080/mcp
  rkllm-mcp settings

Exit codes: 0 done; 1 failed; 2 the command line is wrong; 3 the settings are refused;
4 cannot start (a port is in use, ...).)";

// What the options of all commands are read into.
struct Parsed {
  std::string settings_path;
  std::vector<std::string> sets;
  std::string library;
  bool simulator = false;
  std::string log_level;
  ServeOptions serve;
  CallOptions call;
  ConnectOptions connect;
  std::string call_to;
  bool call_text = false;
  std::string settings_action = "show";
  SettingsOptions settings;
  bool settings_json = false;
};

void add_settings_options(CLI::App& command, Parsed& parsed) {
  command.add_option("--settings", parsed.settings_path, "The settings file to use")->type_name("PATH");
  command.add_option("--set", parsed.sets, "Set one value, e.g. --set http.port=9000; may be repeated")
      ->type_name("SECTION.KEY=VALUE")
      ->take_all()
      ->allow_extra_args(false);
}

void add_runtime_options(CLI::App& command, Parsed& parsed) {
  auto* library = command.add_option("--library", parsed.library, "The runtime library to load (runtime.library)");
  library->type_name("PATH");
  command.add_flag("--simulator", parsed.simulator, "Use the simulator instead of a runtime library")
      ->excludes(library);
  command.add_option("--log-level", parsed.log_level, "trace, debug, info, warning, error or off (log.level)")
      ->type_name("LEVEL");
  command.add_option("--ports-file", parsed.serve.ports_file, "Write the ports in use to this file, as JSON")
      ->type_name("FILE");
}

CLI::App* add_serve(CLI::App& app, Parsed& parsed) {
  auto* command = app.add_subcommand("serve", "Serve on all transports that the settings switch on");
  add_settings_options(*command, parsed);
  add_runtime_options(*command, parsed);
  return command;
}

CLI::App* add_stdio(CLI::App& app, Parsed& parsed) {
  auto* command = app.add_subcommand(
      "stdio",
      "Serve on standard input and output alone, until end of input: for hosts that start a command. "
      "Other transports can be added, e.g. --set tcp.enabled=true");
  add_settings_options(*command, parsed);
  add_runtime_options(*command, parsed);
  return command;
}

void add_token(CLI::App& command, std::string& token) {
  command
      .add_option("--token", token,
                  "The token that the server asks for; better set in the environment than written here, where others "
                  "can see it")
      ->envname("RKLLM_MCP_TOKEN")
      ->type_name("TOKEN");
}

CLI::App* add_call(CLI::App& app, Parsed& parsed) {
  auto* command = app.add_subcommand("call", "Call one method of a running server and print what comes back");
  add_settings_options(*command, parsed);
  command->add_option("METHOD", parsed.call.method, "e.g. rkllm_run_async")->required();
  command->add_option("PARAMS", parsed.call.params, "Its params, as JSON (default: {})")->type_name("JSON");
  command
      ->add_option("--to", parsed.call_to,
                   "tcp://HOST:PORT, unix:///PATH, udp://HOST:PORT, http[s]://HOST[:PORT][/PATH] or "
                   "ws://HOST:PORT[/PATH] "
                   "(default: the TCP port of the settings)")
      ->type_name("URL");
  add_token(*command, parsed.call.token);
  command->add_flag("--text", parsed.call_text, "Print the generated text only, as it comes");
  command->add_option("--timeout", parsed.call.patience_s, "Longest wait for a message (default: 300)")
      ->type_name("SECONDS")
      ->check(CLI::Range(1, 1'000'000));
  return command;
}

CLI::App* add_connect(CLI::App& app, Parsed& parsed) {
  auto* command = app.add_subcommand(
      "connect",
      "Connect standard input and output to a running MCP server, this one or another: for hosts that can only start a "
      "command. Each line is one message and passes as it is, in both directions. Ends with its input (exit code 0), "
      "or "
      "when the server cannot be reached or goes away: requests without an answer then get error -32603 (exit code 1)");
  command
      ->add_option("URL", parsed.connect.url,
                   "tcp://HOST:PORT, unix:///PATH, udp://HOST:PORT, http[s]://HOST[:PORT][/PATH] (Streamable HTTP; "
                   "without a path: /mcp) or ws://HOST:PORT[/PATH]")
      ->required();
  add_token(*command, parsed.connect.token);
  command
      ->add_option("--ca-file", parsed.connect.ca_file,
                   "The certificates that an https server is verified with, in PEM (default: the system's)")
      ->type_name("FILE")
      ->check(CLI::ExistingFile);
  return command;
}

CLI::App* add_settings(CLI::App& app, Parsed& parsed) {
  auto* command = app.add_subcommand(
      "settings",
      "show: the values in force and where each comes from (default); path: the settings file; schema: its JSON "
      "Schema; "
      "check [FILE]: is it right?; write [FILE]: write the built-in values, never over a file that exists");
  add_settings_options(*command, parsed);
  command->add_option("ACTION", parsed.settings_action, "show, path, schema, check or write")
      ->check(CLI::IsMember({"show", "path", "schema", "check", "write"}));
  command->add_option("FILE", parsed.settings.file, "The file to check or to write");
  command->add_flag("--json", parsed.settings_json, "show: as JSON");
  return command;
}

SettingsRequest settings_request(const Parsed& parsed) {
  SettingsRequest request;
  auto& assignments = request.assignments;
  if (!parsed.settings_path.empty()) request.path = parsed.settings_path;
  request.environment = current_environment();
  if (parsed.simulator) {
    assignments.push_back({"runtime.library", std::string(kSimulatorLibrary), "--simulator"});
  }
  if (!parsed.library.empty()) assignments.push_back({"runtime.library", parsed.library, "--library"});
  if (!parsed.log_level.empty()) assignments.push_back({"log.level", parsed.log_level, "--log-level"});
  for (const std::string& set : parsed.sets) {
    const auto equals = set.find('=');
    if (equals == std::string::npos) throw CLI::ValidationError("--set " + set, "expected SECTION.KEY=VALUE");
    const std::string name = set.substr(0, equals);
    assignments.push_back({name, set.substr(equals + 1), "--set " + name});
  }
  return request;
}

CallOptions call_options(Parsed& parsed) {
  const Json params = Json::parse(parsed.call.params, nullptr, false);
  if (!params.is_structured()) throw CLI::ValidationError("PARAMS", "expected a JSON object or array");
  if (!parsed.call_to.empty()) parsed.call.to = parsed.call_to;
  if (parsed.call_text) parsed.call.output = CallOptions::Output::kText;
  return std::move(parsed.call);
}

SettingsOptions settings_options(Parsed& parsed) {
  using Action = SettingsOptions::Action;
  static const std::map<std::string, Action> kActions{{"show", Action::kShow},
                                                      {"path", Action::kPath},
                                                      {"schema", Action::kSchema},
                                                      {"check", Action::kCheck},
                                                      {"write", Action::kWrite}};
  parsed.settings.action = kActions.at(parsed.settings_action);
  if (parsed.settings_json) parsed.settings.output = SettingsOptions::Output::kJson;
  return std::move(parsed.settings);
}

}  // namespace

CommandLine parse_command_line(int argc, const char* const* argv) {
  // For no person: neither shown nor explained.
  if (argc > 1 && std::string_view(argv[1]) == "work") return {{}, WorkOptions{{argv + 2, argv + argc}}};
  CLI::App app(kDescription, "rkllm-mcp");
  app.footer(kExamples);
  app.require_subcommand(1);
  app.set_version_flag(
      "--version", "rkllm-mcp " + std::string(kProgramVersion) + " (ABI sets: " + std::string(kAbiSetVersions) + ")",
      "Print the version and the versions of the runtime's interface that are built in");
  Parsed parsed;
  const auto* serve = add_serve(app, parsed);
  const auto* stdio = add_stdio(app, parsed);
  const auto* call = add_call(app, parsed);
  const auto* connect = add_connect(app, parsed);
  add_settings(app, parsed);
  try {
    app.parse(argc, argv);
    if (serve->parsed()) return {settings_request(parsed), parsed.serve};
    if (stdio->parsed()) {
      parsed.serve.ends_with_input = true;
      return {settings_request(parsed), parsed.serve};
    }
    if (call->parsed()) return {settings_request(parsed), call_options(parsed)};
    if (connect->parsed()) return {{}, std::move(parsed.connect)};
    return {settings_request(parsed), settings_options(parsed)};
  } catch (const CLI::ParseError& error) {
    return {{}, Finished{app.exit(error) == 0 ? kExitOk : kExitUsage}};
  }
}

}  // namespace rkllm_mcp
