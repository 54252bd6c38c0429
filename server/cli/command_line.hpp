// The command line as plain values.
#pragma once

#include "settings/load.hpp"
#include "tools/html/page_reading.hpp"

#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace rkllm_mcp {

// rkllm-mcp serve, rkllm-mcp stdio
struct ServeOptions {
  std::string ports_file;        // gets the ports in use as JSON once all are open; empty: none
  bool ends_with_input = false;  // `stdio`: end of standard input ends the program
  std::string written_settings;  // the first start has written this file; empty: it was there
};

// How long `call` and `tools` wait for a message, unless --timeout says it; seconds.
inline constexpr int kPatienceS = 300;

// Where the running server is, of the commands for people.
struct RemoteOptions {
  std::string to{};       // URL; empty: the HTTP port of the settings
  std::string token{};    // empty: none
  std::string ca_file{};  // empty: the system's certificates
};

// rkllm-mcp chat
struct ChatOptions {
  RemoteOptions remote{};
  std::string model{};   // empty: one that is loaded, else the first that the server offers
  std::string system{};  // empty: no system message
  bool json = false;     // a line of JSON for each answer
};

// rkllm-mcp ask
struct AskOptions {
  RemoteOptions remote{};
  std::vector<std::string> words{};
  std::string model{};
  std::string system{};
  bool json = false;
};

// rkllm-mcp status, ps, models, load, unload
struct StateOptions {
  enum class Action { kStatus, kLoaded, kModels, kLoad, kUnload };

  Action action = Action::kStatus;
  RemoteOptions remote{};
  std::string model{};                // of kLoad
  std::vector<std::string> models{};  // of kUnload
  bool json = false;
};

// rkllm-mcp pull
struct PullOptions {
  std::string source{};
  std::string folder{};    // empty: the first of runtime.model_dirs
  RemoteOptions remote{};  // `to`: who is to fetch it; empty: this program
  bool json = false;
};

// rkllm-mcp rm
struct RemoveOptions {
  std::vector<std::string> models{};
  RemoteOptions remote{};
  bool json = false;
};

// rkllm-mcp call
struct CallOptions {
  enum class Output { kMessages, kText, kJson };

  std::string method;
  std::string params;             // JSON: an object or an array
  std::optional<std::string> to;  // URL; absent: the TCP port of the settings
  std::string token;              // empty: none
  std::string ca_file;            // empty: the system's certificates
  Output output = Output::kMessages;
  int patience_s = kPatienceS;  // longest wait for a message
};

// rkllm-mcp connect
struct ConnectOptions {
  std::string url;
  std::string token;    // empty: none
  std::string ca_file;  // empty: the system's certificates
};

// rkllm-mcp memory
struct MemoryCommandOptions {
  enum class Action { kList, kShow, kSearch, kExport, kImport, kDelete };

  Action action = Action::kList;
  std::vector<std::string> arguments;  // ids, words, or a file
  std::string to;                      // URL; empty: the server of the settings, else the file
  std::string token;                   // empty: none
  std::string ca_file;                 // empty: the system's certificates
  std::string space;                   // whose conversations; empty: one's own
  bool json = false;                   // lines of JSON instead of tables
  bool exact = false;                  // search: mind diacritics
  bool replace = false;                // import: replace what exists
  int limit = 20;                      // search: hits
};

// rkllm-mcp settings
struct SettingsOptions {
  enum class Action { kShow, kPath, kSchema, kCheck, kWrite };
  enum class Output { kText, kJson };

  Action action = Action::kShow;
  std::string file;  // of check and write; empty: the one that would be used
  Output output = Output::kText;
};

// rkllm-mcp tools
struct ToolsOptions {
  enum class Action { kList, kListAll, kCall };
  enum class Output { kText, kJson };

  Action action = Action::kList;
  std::string tool{};               // of kCall
  std::string arguments = "{}";     // of kCall: a JSON object
  std::optional<std::string> to{};  // URL; absent: the ports of the settings, or a server that is started for it
  std::string token{};              // empty: none
  std::string ca_file{};            // empty: the system's certificates
  Output output = Output::kText;
  int patience_s = kPatienceS;
};

// rkllm-mcp logs
struct LogsOptions {
  bool follows = false;
  int lines = 50;  // the last ones of what there is
  bool json = false;
  RemoteOptions remote{};
};

// rkllm-mcp doctor
struct DoctorOptions {
  std::string root;  // in front of /sys, /dev and /proc; empty: those of this machine
  bool json = false;
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
  std::variant<AskOptions, ChatOptions, StateOptions, ServeOptions, CallOptions, ConnectOptions, DoctorOptions,
               LogsOptions, MemoryCommandOptions, PullOptions, RemoveOptions, SettingsOptions, ToolsOptions,
               WorkOptions, PageOptions, Finished>
      command;
};

CommandLine parse_command_line(int argc, const char* const* argv);

}  // namespace rkllm_mcp
