// The server's log: to standard error or a file, never to standard output, which belongs to the protocol.
//
// Threads: a logger may be used from any thread.
#pragma once

#include "settings/settings.hpp"

#include <spdlog/logger.h>

#include <functional>
#include <memory>
#include <string_view>

namespace rkllm_mcp {

// Throws std::runtime_error naming the file if it cannot be opened.
std::shared_ptr<spdlog::logger> make_log(const LogSettings& settings);

// Writes an event with its fields: as "message key=value ..." in a text log, as members of the record in a JSON log.
// They are asked for only if the log takes events.
void log_event(spdlog::logger& log, LogFormat format, std::string_view message, const std::function<Json()>& fields);

// For a level that changes while the server runs.
void set_level(spdlog::logger& log, LogLevel level);

}  // namespace rkllm_mcp
