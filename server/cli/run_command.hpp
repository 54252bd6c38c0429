// What each command of `rkllm-mcp` does, a source each. All return one of the exit codes below; what main() can put
// into words they throw: SettingsRefused, std::invalid_argument (what was asked for), client::ConnectionError (there is
// no server to ask), std::runtime_error (what went wrong).
//
// Threads: the one that main() runs on.
#pragma once

#include "cli/command_line.hpp"
#include "settings/load.hpp"

namespace rkllm_mcp {

// The program's exit codes.
inline constexpr int kExitOk = 0;
inline constexpr int kExitFailed = 1;           // the call was answered with an error, or not at all
inline constexpr int kExitUsage = 2;            // the command line cannot be understood
inline constexpr int kExitSettingsRefused = 3;  // a settings file, variable or --set is wrong
inline constexpr int kExitCannotStart = 4;      // a port is in use, the log cannot be written, ...
inline constexpr int kExitInterrupted = 130;    // by Ctrl-C, as shells say of a program that SIGINT has ended

// --- cli/serve.cpp ---

// serve, stdio: builds every object, connects them, runs until told to stop. `request` is what `settings` were loaded
// from, to read them again when asked to (SIGHUP).
int run_serve(const ServeOptions& options, const SettingsRequest& request, LoadedSettings settings);

// --- cli/talk/chat.cpp ---

// People talk to a model of the running server.
int run_chat(const ChatOptions& options, const SettingsRequest& request);
int run_ask(const AskOptions& options, const SettingsRequest& request);

// --- cli/people/ ---

// status, ps, models, load, unload: what the running server does, and what it is to hold.
int run_state(const StateOptions& options, const SettingsRequest& request);
// A model into the folder of models, of this machine or of a server.
int run_pull(const PullOptions& options, const SettingsRequest& request);
// rm: models out of that folder.
int run_remove(const RemoveOptions& options, const SettingsRequest& request);
// Prints what the server of these settings has logged, and with -f what it logs from now on: the file of log.file, also
// after a rotation; if there is none, the journal of systemd, if the service runs; else, or if --to names a server,
// the lines that the server keeps in memory (GET /log). Prints each as a JSON object if that is asked for.
int run_logs(const LogsOptions& options, const SettingsRequest& request);

// --- cli/ ---

// One request to a running server, and its answer on standard output as it comes. 0 for a result, 1 for an error or no
// answer.
int run_call(const CallOptions& options, const SettingsRequest& request);
// Standard input and output as a way to a server elsewhere, for hosts that can only start commands. A bridge, not a
// client: each line of input is sent as it is, and each message of the server is printed as it is, on one line. Nothing
// else is written to standard output. 0 after the end of input (answers to what is in flight are waited for, but no
// longer than half a second) or when nobody reads the output; 1 if the server cannot be reached or goes away: each
// request in flight is then answered with error -32603, whose data has the `url`; 2 if the URL is none.
int run_connect(const ConnectOptions& options);
// Lists the tools of a running server and calls them; where none runs, of one that is started for it.
int run_tools(const ToolsOptions& options, const SettingsRequest& request);
// What would stand in the way of a server on this machine, and how to mend it. 1 if there is a problem; warnings alone
// are 0.
int run_doctor(const DoctorOptions& options, const SettingsRequest& request);
// Looks at the conversations of the memory server, and moves them. Through a server that runs, or else on the file
// itself.
int run_memory(const MemoryCommandOptions& options, const SettingsRequest& request);
// show, path, schema, check, write.
int run_settings(const SettingsOptions& options, const SettingsRequest& request);

}  // namespace rkllm_mcp
