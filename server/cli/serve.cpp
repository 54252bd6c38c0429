#include "cli/run_command.hpp"

#include "app/endpoints/ports_file.hpp"
#include "app/from_settings.hpp"
#include "app/server.hpp"
#include "cli/people/first_model.hpp"
#include "cli/people/offered_models.hpp"
#include "cli/serve_options.hpp"
#include "cli/target.hpp"
#include "log.hpp"
#include "log_output.hpp"
#include "process/descriptor.hpp"
#include "run_loop.hpp"
#include "service/handed_sockets.hpp"
#include "service/supervisor.hpp"
#include "settings/table.hpp"
#include "text/ip_address.hpp"
#include "text/shown.hpp"
#include "version.hpp"

#include <asio/io_context.hpp>
#include <asio/signal_set.hpp>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

namespace rkllm_mcp {
namespace {

// Moves standard output away, before any library is loaded, so that nothing but messages can reach it: what a library
// prints goes to standard error from now on. Gives the descriptor that the messages go to.
int take_standard_output() {
  const int output = ::fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
  if (output < 0 || ::dup2(STDERR_FILENO, STDOUT_FILENO) < 0) {
    throw std::system_error(errno, std::generic_category(), "cannot move standard output");
  }
  return output;
}

bool input_is_a_pipe_or_socket() {
  struct stat status {};
  return ::fstat(STDIN_FILENO, &status) == 0 && (S_ISFIFO(status.st_mode) || S_ISSOCK(status.st_mode));
}

// Throws std::runtime_error if that is asked for, and `output` takes no answers.
bool serves_stdio(const ServeOptions& options, StdioUse use, int output, spdlog::logger& log) {
  const bool is_wanted = options.ends_with_input || use == StdioUse::kOn;
  if (!is_wanted && (use != StdioUse::kAuto || !input_is_a_pipe_or_socket())) return false;
  if (is_open_for_writing(output)) return true;
  constexpr const char* kWhy = "standard output, where the answers of stdio go, is closed or cannot be written";
  if (is_wanted) throw std::runtime_error(kWhy);
  log.warn("standard input is not served: {}", kWhy);
  return false;
}

// Whether the command line or the environment has that setting. (The file does not count: all commands share it.)
bool is_asked_for(const LoadedSettings& settings, std::string_view name) {
  const auto table = settings_table();
  for (std::size_t at = 0; at < table.size(); ++at) {
    if (name_of(table[at]) == name) return settings.sources[at].source >= Source::kEnvironment;
  }
  return false;
}

// Switches off what nobody has asked for: `stdio` serves standard input and output alone, and a server of services
// alone their port.
void leave_only_asked_for(LoadedSettings& settings) {
  const auto asked_for = [&](std::string_view name) { return is_asked_for(settings, name); };
  Settings& values = settings.values;
  values.tcp.enabled = values.tcp.enabled && asked_for("tcp.enabled");
  if (!asked_for("unix.path")) values.unix_socket.path.clear();
  values.udp.enabled = values.udp.enabled && asked_for("udp.enabled");
  values.http.enabled = values.http.enabled && asked_for("http.enabled");
  values.ws.enabled = values.ws.enabled && asked_for("ws.enabled");
  values.services.enabled = values.services.enabled && asked_for("services.enabled");
}

void choose_transports(const ServeOptions& options, LoadedSettings& settings) {
  if (options.ends_with_input) return leave_only_asked_for(settings);
  if (runs_models(settings.values)) return;
  leave_only_asked_for(settings);
  if (!is_asked_for(settings, "services.enabled")) settings.values.services.enabled = true;
}

// True if something has changed.
bool reread(const SettingsRequest& request, Settings& running, spdlog::logger& log) {
  try {
    const Reload changes = reload(running, load_settings(request).values);
    for (const auto& name : changes.changed) log.info("{} has changed", name);
    for (const auto& name : changes.need_restart) log.warn("{} has changed, but needs a restart", name);
    if (changes.changed.empty() && changes.need_restart.empty()) log.info("the settings are unchanged");
    set_level(log, running.log.level);
    return !changes.changed.empty();
  } catch (const std::exception& error) {
    log.error("the settings were not read again: {}", error.what());
    return false;
  }
}

void renew_certificate(Server& server, spdlog::logger& log) {
  try {
    if (server.renew_certificate()) log.info("the TLS certificate was read again");
  } catch (const std::exception& error) {
    log.error("TLS goes on with the certificate it has: {}", error.what());
  }
}

// "127.0.0.1:8080, TLS"
std::string text_of_place(const Json& place) {
  if (place.contains("path")) return place["path"].get<std::string>();
  if (!place.contains("port")) return "standard input and output";
  return place["address"].get<std::string>() + ":" + place["port"].dump() + (place.value("tls", false) ? ", TLS" : "");
}

void log_addresses(const Json& ports, spdlog::logger& log) {
  for (const auto& [name, place] : ports.items()) log.info("{} on {}", name, text_of_place(place));
}

// Where a browser on this machine finds the web page.
std::string address_of_page(const Json& http) {
  const std::string address = http["address"].get<std::string>();
  const bool is_v6 = address.find(':') != std::string::npos;
  const std::string host = is_any_address(address) ? "127.0.0.1" : is_v6 ? "[" + address + "]" : address;
  return (http.value("tls", false) ? "https://" : "http://") + host + ":" + http["port"].dump() + "/";
}

// The command that a user has to type before `rkllm-mcp chat`; empty: none. With `where` behind it a command asks this
// server, with `options` it has these settings.
std::string first_step(const Settings& settings, bool simulated, const std::string& where, const std::string& options) {
  if (simulated) {
    return "rkllm-mcp load " + shell_word(model_of_simulator().value_or("FILE.json")) + where + ", then ";
  }
  if (!models_of_settings(settings, options).all.empty()) return {};
  return "rkllm-mcp pull " + std::string(kAnyModel) + options +
         " (or, of a file that is here, rkllm-mcp load FILE.rkllm" + where + "), then ";
}

// The options with which a command in another terminal, without this one's variables, asks this server.
std::string where_elsewhere(const Settings& settings, const Json& http, Environment environment) {
  std::erase_if(environment, [](const auto& variable) { return variable.first.starts_with("RKLLM_MCP_"); });
  Settings used = settings;
  used.http.port = http["port"].get<std::uint16_t>();
  return where_of(http_place(used), environment);
}

// The request by which commands in another terminal, without this one's variables, get the same settings.
SettingsRequest request_elsewhere(const SettingsRequest& request) {
  SettingsRequest told = request;
  if (!told.path) told.path = settings_file_of(request.environment);
  std::vector<Assignment> of_variables;
  for (const Setting& setting : settings_table()) {
    const auto variable = request.environment.find(variable_of(setting));
    if (variable != request.environment.end()) of_variables.push_back({name_of(setting), variable->second, {}});
  }
  told.assignments.insert(told.assignments.begin(), of_variables.begin(), of_variables.end());
  return told;
}

// What somebody who has just started this program for the first time wants to know.
void log_first_words(const ServeOptions& options, const SettingsRequest& request, const Settings& settings,
                     const Json& ports, spdlog::logger& log) {
  if (options.written_settings.empty() || options.ends_with_input) return;
  const SettingsRequest elsewhere = request_elsewhere(request);
  const bool simulated = finds_simulator(settings);
  log.info("first start: the settings were written to {}", options.written_settings);
  if (settings.http.page && ports.contains("http")) log.info("the page for people: {}", address_of_page(ports["http"]));
  if (ports.contains("http")) {
    const std::string where = where_elsewhere(settings, ports["http"], request.environment);
    log.info("next, in another terminal: {}rkllm-mcp chat{}; all commands: rkllm-mcp help",
             first_step(settings, simulated, where, as_options(elsewhere)), where);
  }
  if (simulated) return;
  const std::string simulator = "rkllm-mcp serve --simulator";
  log.info("is something missing? rkllm-mcp doctor{}; on a PC without a board: {}{}", as_options(elsewhere), simulator,
           as_options(elsewhere, simulator));
}

// For the service manager: "Serving: tcp on 127.0.0.1:8081; http on 127.0.0.1:8080, TLS"
std::string serving(const Json& ports) {
  std::string text;
  for (const auto& [name, place] : ports.items()) {
    text += (text.empty() ? "Serving: " : "; ") + name + " on " + text_of_place(place);
  }
  return text;
}

// Threads that hang in the vendor's library cannot be joined: only leaving the process frees the NPU.
[[noreturn]] void leave_at_once(Log& log, int exit_code) {
  log.close();
  std::_Exit(exit_code);
}

// In debug builds a callback of the event loop that takes several times what the watchdog tells of (kLongestCallback)
// ends the program. Not less: on machines where a page of memory is slow to get, megabytes alone take that long.
constexpr bool kSlowIsFatal = RKLLM_MCP_SLOW_IS_FATAL != 0;
constexpr auto kFatal = 4 * kLongestCallback;

// People who start this program look at its standard error, wherever the log goes.
void say_why_not(const std::exception& error, const LogSettings& settings, spdlog::logger& log) {
  const std::string text = std::string("cannot start: ") + error.what();
  if (!settings.file.empty() || !log.should_log(spdlog::level::critical)) say_on_standard_error("rkllm-mcp: " + text);
  log.critical("{}", text);
}

void reopen(Log& log) {
  try {
    if (log.reopen()) log.logger().info("the log's file was opened again");
  } catch (const std::exception& error) {
    log.logger().error("the log goes on where it is: {}", error.what());
  }
}

}  // namespace

int run_serve(const ServeOptions& options, const SettingsRequest& request, LoadedSettings loaded) {
  const int output = take_standard_output();
  Supervisor supervisor = Supervisor::take_from_environment();
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGCHLD, SIG_DFL);  // workers are waited for, whatever the one who started us has set
  choose_transports(options, loaded);
  Settings& settings = loaded.values;
  Log log_of_server(settings.log);
  spdlog::logger* const log = &log_of_server.logger();
  for (const auto& warning : loaded.warnings) log->warn("{}", warning);
  log->info("rkllm-mcp {}, process {}", kProgramVersion, ::getpid());

  asio::io_context loop(1);
  asio::signal_set signals(loop);
  asio::signal_set hangups(loop);
  Server::Options server_options;
  server_options.ends_with_input = options.ends_with_input;
  server_options.settings_report = [&loaded] { return settings_report(loaded); };
  server_options.lost_log_lines = [&log_of_server] { return log_of_server.lost_lines(); };
  server_options.log_tail = &log_of_server.tail();
  server_options.when_stopping = [&supervisor] { supervisor.stopping(); };
  std::optional<Server> server;
  try {
    if (serves_stdio(options, settings.stdio.enabled, output, *log)) server_options.stdio_output = output;
    if (!options.ends_with_input) server_options.sockets = take_handed_sockets(settings);
    server.emplace(loop, settings, *log, server_options);
    // From here on signals wait for the loop: a program that learns from the ports file that the server is ready may
    // send one at once.
    signals.add(SIGINT);
    signals.add(SIGTERM);
    hangups.add(SIGHUP);
    log_addresses(server->ports(), *log);
    log_first_words(options, request, settings, server->ports(), *log);
    if (!options.ports_file.empty()) {
      Json ports = server->ports();
      ports["pid"] = ::getpid();
      write_ports_file(options.ports_file, ports);
    }
  } catch (const std::exception& error) {
    say_why_not(error, settings.log, *log);
    return kExitCannotStart;
  }
  supervisor.ready(serving(server->ports()));
  supervisor.watch(loop);
  server->start_runtime();  // last: from here on threads may be busy in the vendor's library

  signals.async_wait([&](const asio::error_code& error, int) {
    if (!error) server->stop();
  });
  std::function<void(const asio::error_code&, int)> on_hangup = [&](const asio::error_code& error, int) {
    if (error || server->is_stopping()) return;
    hangups.async_wait(on_hangup);
    supervisor.reloading();
    reopen(log_of_server);
    if (reread(request, settings, *log)) server->settings_changed();
    server->renew_profiles();
    renew_certificate(*server, *log);
    server->renew_runtime();
    supervisor.ready(serving(server->ports()));
  };
  hangups.async_wait(on_hangup);
  run_loop(
      loop, [&server](const std::exception_ptr& fault) { server->note_fault(fault); },
      [&](std::chrono::milliseconds time) {
        log->warn("a callback of the event loop took {} ms of processor time; all clients waited for it", time.count());
        if (!kSlowIsFatal || time < kFatal) return;
        log_of_server.close();
        std::abort();
      });
  supervisor.stop_watching();  // its timer must not outlive the loop

  log->info("ended");
  if (!server->ended_cleanly()) leave_at_once(log_of_server, kExitOk);
  return kExitOk;
}

}  // namespace rkllm_mcp
