// Errors of the runtime often name the consequence only ("init failed"); the cause is in what it has logged.
#pragma once

#include <rkllm_mcp/json.hpp>

#include <string>
#include <string_view>

namespace rkllm_mcp {

// The message of an error, and behind it the last line of the log in its data, unless the message has that already.
inline std::string with_last_log_line(std::string message, const Json& data) {
  const Json log = data.is_object() ? data.value("log", Json()) : Json();
  if (!log.is_array() || log.empty() || !log.back().is_string()) return message;
  const auto& line = log.back().get_ref<const std::string&>();
  const auto prefix = line.starts_with("E ") ? line.find(": ") : std::string::npos;  // "E rkllm: init failed"
  const std::string_view said = std::string_view(line).substr(prefix == std::string::npos ? 0 : prefix + 2);
  return message.find(said) != std::string::npos ? message : message + "; the runtime's last word: " + line;
}

}  // namespace rkllm_mcp
