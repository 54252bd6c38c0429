// The command line as plain values.
#pragma once

#include "settings/load.hpp"

#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace rkllm_mcp {

// rkllm-mcp serve, rkllm-mcp stdio
struct ServeOptions {
  std::string ports_file;        // gets the ports in use as JSON once all are open; empty: none
  bool ends_with_input = false;  // `stdio`: end of standard input ends the program
};

// rkllm-mcp call
struct CallOptions {
  enum class Output { kMessages, kText };

  std::string method;
  std::string params = "{}";      // JSON: an object or an array
  std::optional<std::string> to;  // URL; absent: the TCP port of the settings
  std::string token;              // empty: none
  Output output = Output::kMessages;
  int patience_s = 300;  // longest wait for a message
};

// rkllm-mcp connect
struct ConnectOptions {
  std::string url;
  std::string token;    // empty: none
  std::string ca_file;  // empty: the system's certificates
};

// rkllm-mcp settings
struct SettingsOptions {
  enum class Action { kShow, kPath, kSchema, kCheck, kWrite };
  enum class Output { kText, kJson };

  Action action = Action::kShow;
  std::string file;  // of check and write; empty: the one that would be used
  Output output = Output::kText;
};

// rkllm-mcp work: what the server starts its worker processes as
struct WorkOptions {
  std::vector<std::string> arguments;
};

// Nothing is left to do: help or a complaint has been printed.
struct Finished {
  int exit_code;
};

struct CommandLine {
  SettingsRequest settings;
  std::variant<ServeOptions, CallOptions, ConnectOptions, SettingsOptions, WorkOptions, Finished> command;
};

CommandLine parse_command_line(int argc, const char* const* argv);

}  // namespace rkllm_mcp
