#include "cli/commands/commands.hpp"

namespace rkllm_mcp {
namespace {

void add_runtime_options(CLI::App& command, Parsed& parsed) {
  auto* library = command.add_option("--library", parsed.library, "The runtime library to load (runtime.library)");
  library->type_name("PATH");
  command.add_flag("--simulator", parsed.simulator, "Use the simulator instead of a runtime library")
      ->excludes(library);
  command.add_option("--log-level", parsed.log_level, "trace, debug, info, warning, error or off (log.level)")
      ->type_name("LEVEL")
      ->check(offered({"trace", "debug", "info", "warning", "error", "off"}));
  command.add_option("--ports-file", parsed.serve.ports_file, "Write the ports in use to this file, as JSON")
      ->type_name("FILE");
}

}  // namespace

CLI::App* add_serve(CLI::App& app, Parsed& parsed) {
  auto* command = app.add_subcommand("serve", "Start the server, on all transports that the settings switch on.");
  command->group(kServing);
  add_settings_options(*command, parsed);
  add_runtime_options(*command, parsed);
  command
      ->add_option("--only", parsed.only,
                   "Run these servers only, e.g. memory-server; without rkllm-server no model, and nothing but the "
                   "services' own port unless more is switched on here or in the environment (services.only)")
      ->type_name("NAME,...");
  return command;
}

CLI::App* add_stdio(CLI::App& app, Parsed& parsed) {
  auto* command = app.add_subcommand(
      "stdio",
      "Serve on standard input and output alone, until end of input: for hosts that start a command.\n"
      "Other transports can be added, e.g. --set tcp.enabled=true");
  command->group(kServing);
  add_settings_options(*command, parsed);
  add_runtime_options(*command, parsed);
  return command;
}

}  // namespace rkllm_mcp
