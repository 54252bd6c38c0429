// What an MCP server offers, as data: tools, resources, prompts, and words about itself. This library serves any such
// catalogue.
//
// Code that changes a catalogue calls mcp::Server::announce() afterwards. Event loop only.
#pragma once

#include "call/permission.hpp"
#include "immutable.hpp"
#include "jsonrpc/unread.hpp"
#include "mcp/tools/invocation.hpp"

#include <rkllm_mcp/errors.hpp>
#include <rkllm_mcp/json.hpp>
#include <rkllm_mcp/method.hpp>

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace rkllm_mcp::mcp {

// Returns values that an argument may have, for somebody who has typed `so_far`; whoever calls this leaves out those
// that do not begin so. `others`: the arguments that are known already.
using CompleteFunction = std::function<std::vector<std::string>(std::string_view so_far, const Json& others)>;

// A text that is made when it is first wanted. A copy begins without the text, as what it is made of may be changed
// in the copy.
class WrittenOnce {
 public:
  WrittenOnce() = default;
  WrittenOnce(const WrittenOnce&) {}
  WrittenOnce& operator=(const WrittenOnce&) {
    text_.clear();
    return *this;
  }
  ~WrittenOnce() = default;

  template <class Write>
  const std::string& get(const Write& write) {
    if (text_.empty()) text_ = write();
    return text_;
  }

 private:
  std::string text_;
};

struct Tool {
  std::string name, title, description;
  Json input_schema;   // JSON Schema, told as it is; its root is an object
  Json output_schema;  // JSON Schema of structuredContent; null: none
  std::optional<ToolAnnotations> annotations;
  Permission permission = Permission::kCall;  // that a client needs to call it
  InvokeFunction run{};
  // Whether that invocation shall become a task, which goes on after its request was answered. Called only if the
  // client knows tasks; null: never.
  std::function<bool(const InvocationRequest&)> as_task{};
  bool listed = true;  // else nobody is told of it, but it can be called
  Json more{};         // further members of its entry in the list, e.g. icons; null: none
  // It only hands its arguments on: long parts of them may be unread (jsonrpc/unread.hpp).
  bool takes_unread = false;
  // Its entry as the list has it. A tool in a catalogue never changes.
  mutable WrittenOnce entry{};
};

inline constexpr const char* kJsonType = "application/json";

// A document. `text` is base64 if it is `binary`.
struct ResourceText {
  std::string text;
  bool binary = false;
  Json meta{};  // about it, for programs; null: nothing
};

struct Resource {
  std::string uri, name, title, description, mime_type;
  std::function<ResourceText()> read;
  std::optional<std::size_t> size{};          // in bytes, if it never changes
  Json more{};                                // further members of its entry in the list, e.g. icons; null: none
  Permission permission = Permission::kCall;  // that a client needs to see and to read it
};

// Documents that come and go. `read` gives nothing for an address that is none of these, or not now.
struct ResourceTemplate {
  std::string uri_template, name, title, description, mime_type;
  std::function<std::optional<ResourceText>(std::string_view uri)> read;
  std::vector<std::pair<std::string, CompleteFunction>> variables{};
  Json more{};                                // further members of its entry in the list, e.g. icons; null: none
  Permission permission = Permission::kCall;  // that a client needs to see it, and to read its documents
};

struct PromptArgument {
  std::string name, title, description;
  bool required = false;
  CompleteFunction complete{};  // null: anything
};

struct Prompt {
  std::string name, title, description;
  std::vector<PromptArgument> arguments;
  InvokeFunction run;                         // its result is the protocol's GetPromptResult
  Json more{};                                // further members of its entry in the list, e.g. icons; null: none
  Permission permission = Permission::kCall;  // that a client needs to see and to get it
};

struct Service;  // mcp/service.hpp

struct Catalogue {
  std::string name;  // of this server, e.g. "rkllm-server"
  std::string title;
  std::string version;
  std::string instructions;  // what a model should know before it uses the tools
  std::vector<Immutable<Tool>> tools;
  std::vector<Resource> resources;
  std::vector<ResourceTemplate> templates;
  std::vector<Immutable<Prompt>> prompts;
  // Returns the function that fetches the document at `uri` from elsewhere, in place of the entry's `read`: it checks
  // whether the client may have it, and answers with ReadResourceResult. Null: not needed; `fetch` itself may be null.
  std::function<InvokeFunction(const std::string& uri)> fetch{};
  // Whether there is a server of this catalogue's name beside the services, whose methods may be called NAME/METHOD.
  bool is_server = true;
  // Servers of their own behind the same transports: added by add_service().
  std::vector<Immutable<Service>> services{};
  // Whether clients of the stateless era may be given tasks.
  bool offers_tasks = false;

  void add(Tool tool) { tools.emplace_back(std::move(tool)); }
  void add(Prompt prompt) { prompts.emplace_back(std::move(prompt)); }
  // From now on the tools from index `first` on are not listed; they can be called all the same.
  void unlist_tools_from(std::size_t first) {
    for (std::size_t i = first; i < tools.size(); ++i) {
      Tool hidden = *tools[i];
      hidden.listed = false;
      tools[i] = Immutable(std::move(hidden));
    }
  }
  // Null: there is none of that name. Whoever runs it keeps a copy, since the catalogue may change meanwhile.
  const Immutable<Tool>* tool(std::string_view tool_name) const { return named(tools, tool_name); }
  const Immutable<Prompt>* prompt(std::string_view prompt_name) const { return named(prompts, prompt_name); }

 private:
  template <class Entry>
  static const Immutable<Entry>* named(const std::vector<Immutable<Entry>>& entries, std::string_view wanted) {
    for (const auto& each : entries) {
      if (each->name == wanted) return &each;
    }
    return nullptr;
  }
};

// Text content of one block.
inline Json text_block(std::string_view text) { return Json{{"type", "text"}, {"text", text}}; }
// The result of a tool that says no more than a text.
inline Json text_result(std::string_view text) { return Json{{"content", Json::array({text_block(text)})}}; }

// How a tool that failed answers: the message for people and models, then code and data for programs.
inline Json tool_error(const RpcError& error) {
  const Json details{{"code", static_cast<int>(error.code())}, {"data", error.data()}};
  return Json{{"content", Json::array({text_block(error.what()), text_block(to_text(details))})}, {"isError", true}};
}

}  // namespace rkllm_mcp::mcp
