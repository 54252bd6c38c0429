// A tool of another MCP server: whether it can be served here, as what, and under which name; and what that server may
// answer to a call of it, so that it can be passed on.
#pragma once

#include "mcp/catalogue.hpp"
#include "upstreams/offered.hpp"

#include <rkllm_mcp/errors.hpp>
#include <rkllm_mcp/json.hpp>

#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace rkllm_mcp {

// Text from elsewhere for a line of the log: its beginning, without control characters.
std::string for_the_log(const std::string& text);

// Letters, digits, _ and -, 64 at most: hosts refuse other names.
bool is_tool_name(const std::string& name);

// What one list has for us.
struct SortedTools {
  std::vector<Json> served;           // as they were listed
  std::vector<std::string> left_out;  // NAME: WHY, for the log
};
SortedTools sort_tools(const std::string& upstream, std::vector<Json> listed, const ToolFilter& filter = {});

// UPSTREAM_TOOL. In a name that hosts would refuse (files.read) each dot becomes _, and marked_name()'s mark follows:
// so two tools never get the same name, whatever else is listed, and in whatever order.
std::string served_name(const std::string& upstream, const std::string& tool);

// UPSTREAM_TOOL with a mark, a hash of both names, for a tool whose served_name() another one has already.
std::string marked_name(const std::string& upstream, const std::string& tool);

// The names under which the tools, or the prompts, of all upstreams are served: no two have the same.
class ServedNames {
 public:
  // `taken` are those that are served already, by whomever.
  ServedNames(std::vector<std::string> upstreams, std::set<std::string> taken)
      : upstreams_(std::move(upstreams)), taken_(std::move(taken)) {}

  // The name of what that upstream calls `there`, which is taken from now on. Nothing if there is none left for it.
  std::optional<std::string> take(const std::string& upstream, const std::string& there);

 private:
  bool could_be_anothers(const std::string& upstream, const std::string& plain) const;

  std::vector<std::string> upstreams_;
  std::set<std::string> taken_;
};

// A tool of SortedTools::served as one of this server; what runs it is left to the caller.
mcp::Tool served_tool(const std::string& upstream, const Json& tool);

// Whether a member of that name is there and a string.
bool has_text(const Json& object, const char* name);

// Whether it is a complete result whose members are of the types that the protocol gives them.
bool is_tool_result(const Json& result);

// JSON-RPC's own codes and this server's stay; the protocol's are about the way between that server and this one, and
// any other means nothing to our clients: they become an internal error.
ErrorCode passed_on_code(int code);

}  // namespace rkllm_mcp
