// The program: reads the command line and the settings, and hands over to the command.
#include "app/runtime/preset_fields.hpp"
#include "cli/command_line.hpp"
#include "cli/run_command.hpp"
#include "cli/serve_options.hpp"
#include "cli/target.hpp"
#include "client/connection.hpp"
#include "client/endpoint.hpp"
#include "log_output.hpp"
#include "process/descriptor.hpp"
#include "settings/refused.hpp"
#include "tools/html/page_reading.hpp"
#include "worker/process_title.hpp"
#include "worker/worker_main.hpp"

#ifdef __GLIBC__
#include <malloc.h>
#endif

#include <cerrno>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <iostream>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <system_error>
#include <utility>
#include <variant>

namespace rkllm_mcp {
namespace {

// At the first start (`written` is its path then) a complete settings file is written, to be read and edited. A place
// that cannot be written to is no reason not to serve.
LoadedSettings settings_for_serving(const SettingsRequest& request, std::string& written) {
  LoadedSettings settings = load_settings(request);  // first: what is refused leaves no file behind
  std::string warning;
  const auto path = settings_path(request.path, request.environment);
  if (!path) warning = "no settings file was written: neither XDG_CONFIG_HOME nor HOME is set";
  try {
    if (path && write_default_settings(*path) == Written::kWritten) written = *path;
  } catch (const std::system_error& error) {
    warning = std::string("no settings file was written, going on with built-in values: ") + error.what();
  }
  if (!written.empty()) settings = load_settings(request);
  if (!warning.empty()) settings.warnings.push_back(warning);
  return settings;
}

// What long messages have taken goes back to the system. glibc otherwise raises its bound for blocks of their own with
// each that is freed, up to 32 MiB, and keeps below it what has become free: after 100 clients that had sent 8 MB and
// gone the server stayed at 60 to 96 MB for ever, with these bounds it ends at 22, of the 17 that it begins with. A
// message of 7.5 MB costs a third more processor time (97 ms for 71, unoptimised), one of 300 KB no more. Bounds of
// 256 KiB make those slower, too (5.2 ms for 3.7); malloc_trim() every few seconds leaves 44 MB. Not for workers: the
// library's buffers come and go with each run.
void give_back_long_blocks() {
#ifdef __GLIBC__
  constexpr int kBlockOfItsOwn = 1 << 20;
  constexpr int kKeptFree = 4 << 20;
  ::mallopt(M_MMAP_THRESHOLD, kBlockOfItsOwn);
  ::mallopt(M_TRIM_THRESHOLD, kKeptFree);
#endif
}

struct Run {
  const SettingsRequest& settings;
  const std::span<char> arguments;  // the memory that they stand in, for the title of a worker

  int operator()(ServeOptions options) const {
    give_back_long_blocks();
    raise_file_limit();
    LoadedSettings loaded = settings_for_serving(settings, options.written_settings);
    try {
      return run_serve(options, settings, std::move(loaded));
    } catch (const std::exception& error) {
      say_on_standard_error(std::string("rkllm-mcp: cannot start: ") + error.what());
      return kExitCannotStart;
    }
  }
  int operator()(const CallOptions& options) const { return run_call(options, settings); }
  int operator()(const ConnectOptions& options) const { return run_connect(options); }
  int operator()(const AskOptions& options) const { return run_ask(options, settings); }
  int operator()(const ChatOptions& options) const { return run_chat(options, settings); }
  int operator()(const StateOptions& options) const { return run_state(options, settings); }
  int operator()(const LogsOptions& options) const { return run_logs(options, settings); }
  int operator()(const DoctorOptions& options) const { return run_doctor(options, settings); }
  int operator()(const MemoryCommandOptions& options) const { return run_memory(options, settings); }
  int operator()(const PullOptions& options) const { return run_pull(options, settings); }
  int operator()(const RemoveOptions& options) const { return run_remove(options, settings); }
  int operator()(const SettingsOptions& options) const { return run_settings(options, settings); }
  int operator()(const ToolsOptions& options) const { return run_tools(options, settings); }
  int operator()(const WorkOptions& options) const {
    ProcessTitle title(arguments);
    return run_worker(worker_options_from(options.arguments), title);
  }
  int operator()(const PageOptions& options) const { return run_page_reading(options); }
  int operator()(const Finished& finished) const { return finished.exit_code; }
};

// A file that was named and is not there is probably a typing error, unless this command writes it or asks about the
// file.
void warn_of_missing_settings(const CommandLine& command_line) {
  const auto* const settings = std::get_if<SettingsOptions>(&command_line.command);
  const bool is_of_the_file = std::holds_alternative<ServeOptions>(command_line.command) ||
                              (settings != nullptr && settings->action != SettingsOptions::Action::kShow);
  const auto& path = command_line.settings.path;
  std::error_code error;
  if (is_of_the_file || !path || std::filesystem::exists(*path, error)) return;
  say_on_standard_error("rkllm-mcp: warning: " + *path + ": no such file, so the built-in settings count");
}

// Where a command looks for a server.
struct NamedServer {
  std::string to{};  // empty: the settings say it
  client::Protocol usual = client::Protocol::kTcp;
};

template <class Options>
NamedServer named_server(const Options& options) {
  if constexpr (requires { options.remote.to; }) return {options.remote.to, client::Protocol::kHttp};
  if constexpr (requires { options.to.value_or(""); }) return {options.to.value_or("")};
  if constexpr (requires { std::string(options.to); }) return {options.to};
  return {};
}

// With which options `rkllm-mcp serve` would start a server that this command reaches; see serve_options_for().
std::optional<std::string> serve_options(const CommandLine& command_line) {
  const NamedServer server =
      std::visit([](const auto& options) { return named_server(options); }, command_line.command);
  const SettingsRequest& request = command_line.settings;
  if (server.to.empty()) return as_options(request);
  return serve_options_for(server.to, server.usual, request);
}

int run(CommandLine command_line, std::span<char> arguments) {
  command_line.settings.check_presets = unknown_preset_fields;
  warn_of_missing_settings(command_line);
  try {
    return std::visit(Run{command_line.settings, arguments}, command_line.command);
  } catch (const SettingsRefused& refused) {
    say_on_standard_error(std::string("rkllm-mcp: the settings are refused:\n") + refused.what());
    return kExitSettingsRefused;
  } catch (const client::ConnectionError& error) {
    say_on_standard_error("rkllm-mcp: " + words_of(error, serve_options(command_line)));
    return kExitFailed;
  } catch (const std::invalid_argument& error) {
    say_on_standard_error(std::string("rkllm-mcp: ") + error.what());
    return kExitUsage;
  } catch (const std::exception& error) {
    say_on_standard_error(std::string("rkllm-mcp: ") + error.what());
    return kExitFailed;
  }
}

// What a full disk has not taken must not look like a copy that is complete. A reader that closes the pipe, as `head`
// does, is no error.
int with_all_written(int exit_code) {
  errno = 0;
  const bool is_written = std::fflush(stdout) == 0 && std::ferror(stdout) == 0 && std::cout.good();
  const int cause = errno;
  if (is_written || exit_code != kExitOk) return exit_code;
  std::string why;
  if (cause != 0) why = ": " + std::generic_category().message(cause);
  if (!is_open_for_writing(STDOUT_FILENO)) why = ": it is closed, or open for reading alone";
  if (cause != EPIPE) {
    say_on_standard_error("rkllm-mcp: standard output could not be written, or not all of it" + why);
  }
  return kExitFailed;
}

}  // namespace
}  // namespace rkllm_mcp

int main(int argc, char** argv) {
  try {
    rkllm_mcp::occupy_standard_descriptors();
  } catch (const std::system_error& error) {
    rkllm_mcp::say_on_standard_error(std::string("rkllm-mcp: cannot start: ") + error.what());
    return rkllm_mcp::kExitCannotStart;
  }
  return rkllm_mcp::with_all_written(
      rkllm_mcp::run(rkllm_mcp::parse_command_line(argc, argv), rkllm_mcp::ProcessTitle::memory_of(argc, argv)));
}
