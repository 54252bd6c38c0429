// The server's log: to standard error or a file, never to standard output, which belongs to the protocol.
//
// Threads: a logger may be used from any thread.
#pragma once

#include "settings/settings.hpp"

#include <spdlog/logger.h>

#include <memory>

namespace rkllm_mcp {

// Throws std::runtime_error naming the file if it cannot be opened.
std::shared_ptr<spdlog::logger> make_log(const LogSettings& settings);

// For a level that changes while the server runs.
void set_level(spdlog::logger& log, LogLevel level);

}  // namespace rkllm_mcp
