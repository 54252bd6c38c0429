// The program's exit codes.
#pragma once

namespace rkllm_mcp {

inline constexpr int kExitOk = 0;
inline constexpr int kExitFailed = 1;           // the call was answered with an error, or not at all
inline constexpr int kExitUsage = 2;            // the command line cannot be understood
inline constexpr int kExitSettingsRefused = 3;  // a settings file, variable or --set is wrong
inline constexpr int kExitCannotStart = 4;      // a port is in use, the log cannot be written, ...
inline constexpr int kExitInterrupted = 130;    // by Ctrl-C, as shells say of a program that SIGINT has ended

}  // namespace rkllm_mcp
