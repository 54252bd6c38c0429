#include "chat/templates/python_json.hpp"
#include "jsonrpc/unread.hpp"

namespace rkllm_mcp::chat {
namespace {

void line_end(std::string& out, unsigned indent, unsigned level) {
  if (indent == 0) return;
  out.push_back('\n');
  out.append(std::size_t{indent} * level, ' ');
}

void write_python_json(std::string& out, const Json& value, unsigned indent, unsigned level) {
  if (!value.is_structured() || value.empty()) {
    out += to_text(value);
    return;
  }
  out.push_back(value.is_object() ? '{' : '[');
  bool first = true;
  for (auto member = value.begin(); member != value.end(); ++member) {
    if (!first) out += indent == 0 ? ", " : ",";
    first = false;
    line_end(out, indent, level + 1);
    if (value.is_object()) out.append(to_text(member.key())).append(": ");
    write_python_json(out, *member, indent, level + 1);
  }
  line_end(out, indent, level);
  out.push_back(value.is_object() ? '}' : ']');
}

}  // namespace

std::string python_json(const Json& value, unsigned indent) {
  std::string out;
  write_python_json(out, value, indent, 0);
  return out;
}

}  // namespace rkllm_mcp::chat
