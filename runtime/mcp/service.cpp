#include "mcp/service.hpp"

#include "jsonrpc/envelope.hpp"
#include "jsonrpc/unread.hpp"
#include "mcp/catalogue.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

namespace rkllm_mcp::mcp {
namespace {

// Longer answers are kept as text from here on.
constexpr std::size_t kLongAnswer = 4 * 1024;

Json as_unread(std::string_view text) { return unread_line(Json::binary_t::container_type(text.begin(), text.end())); }

Json with_long_members_unread(const Json& result) {
  Json shorter = Json::object();
  for (const auto& [name, member] : result.items()) {
    const std::string text = to_text(member);
    shorter[name] = text.size() > kLongAnswer ? as_unread(text) : member;
  }
  return shorter;
}

// The method as a tool. It holds its service: the catalogue may change while it runs.
Tool tool_of(const Immutable<Service>& service, const ServiceMethod& method) {
  Tool tool;
  tool.name = tool_name_of(method);
  tool.title = method.title;
  tool.description = method.description;
  tool.input_schema = method.params_schema;
  tool.output_schema = method.result_schema;
  tool.annotations = method.annotations;
  tool.permission = method.permission;
  tool.takes_unread = true;
  tool.run = [service, &method](Invocation& invocation) {
    invocation.when_ended([service] {});  // from here on it counts as a request in progress
    try {
      method.run({invocation.take_arguments(), invocation.request().session->principal, AnswerForm::kTool},
                 [kept = invocation.shared_from_this()](Json result, const std::exception_ptr& error) {
                   kept->result(error ? tool_error(as_rpc_error(error)) : std::move(result));
                 });
    } catch (const RpcError& error) {
      invocation.result(tool_error(error));
    }
  };
  return tool;
}

}  // namespace

std::string tool_name_of(const ServiceMethod& method) {
  std::string name = method.name;
  std::ranges::replace(name, '/', '_');
  return name;
}

Json answer_in(AnswerForm form, const Json& result) {
  const std::string text = to_text(result);
  const bool is_long = text.size() > kLongAnswer;
  switch (form) {
    case AnswerForm::kDirect: return is_long ? with_long_members_unread(result) : result;
    case AnswerForm::kTool: {
      Json body{{"content", Json::array({Json{{"type", "text"}, {"text", nullptr}}})}};
      body["content"][0]["text"] = is_long ? as_unread(to_text(Json(text))) : Json(text);
      body["structuredContent"] = is_long ? as_unread(text) : result;
      return body;
    }
  }
  return result;
}

void add_service(Catalogue& catalogue, const Immutable<Service>& service) {
  catalogue.services.push_back(service);
  for (const ServiceMethod& method : service->methods) catalogue.add(tool_of(service, method));
  catalogue.tools.insert(catalogue.tools.end(), service->tools.begin(), service->tools.end());
  catalogue.prompts.insert(catalogue.prompts.end(), service->prompts.begin(), service->prompts.end());
  const auto& templates = service->documents.templates;
  catalogue.templates.insert(catalogue.templates.end(), templates.begin(), templates.end());
  if (!service->instructions.empty()) {
    catalogue.instructions += (catalogue.instructions.empty() ? "" : " ") + service->instructions;
  }
}

}  // namespace rkllm_mcp::mcp
