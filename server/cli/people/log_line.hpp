// One line of the server's log as a JSON object, whatever log.format it was written in.
#pragma once

#include <string>
#include <string_view>

namespace rkllm_mcp {

// JSON text without its newline: {"time": in UTC, "level", "message"} and, of a JSON log, whatever else the line has. A
// line that the server's log did not write, such as what a library printed, has a message only: time and level are
// null.
std::string log_line_as_json(std::string_view line);

}  // namespace rkllm_mcp
