// Error lines that the library logged while a call was made, put where its client sees them, and found there.
#pragma once

#include "backend.hpp"

#include <rkllm_mcp/errors.hpp>
#include <rkllm_mcp/json.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace rkllm_mcp {

// A call that failed with these lines, of which there is at least one: as `data.log`, and the first one in front of a
// message that tells nothing but the status, e.g. `cannot open it (rkllm_init returned -1)`.
RpcError with_log(const RpcError& error, std::vector<std::string> errors);

// A call that succeeded gets them as member "warnings" of its result, one that failed with 4001 as `data.log`, unless
// it has them. Nothing changes if there are none.
void add_logged_errors(std::vector<std::string> errors, CallOutcome& outcome);

// The message of an error, and behind it the last line of the log in its data, unless the message has that already:
// errors of the runtime often name the consequence only ("init failed"), and the cause is in what it has logged.
inline std::string with_last_log_line(std::string message, const Json& data) {
  const Json log = data.is_object() ? data.value("log", Json()) : Json();
  if (!log.is_array() || log.empty() || !log.back().is_string()) return message;
  const auto& line = log.back().get_ref<const std::string&>();
  const auto prefix = line.starts_with("E ") ? line.find(": ") : std::string::npos;  // "E rkllm: init failed"
  const std::string_view said = std::string_view(line).substr(prefix == std::string::npos ? 0 : prefix + 2);
  return message.find(said) != std::string::npos ? message : message + "; the runtime's last word: " + line;
}

}  // namespace rkllm_mcp
