#include "dispatch/service_calls.hpp"

#include "call/permission.hpp"
#include "json_members.hpp"
#include "jsonrpc/envelope.hpp"
#include "jsonrpc/unread.hpp"
#include "mcp/lists/lists.hpp"
#include "mcp/lists/resources.hpp"
#include "mcp/protocol/revisions.hpp"

#include <rkllm_mcp/nearest_name.hpp>

#include <algorithm>
#include <array>
#include <exception>
#include <utility>

namespace rkllm_mcp {
namespace {

// What every service has, beside its own methods.
constexpr std::array<std::string_view, 5> kOfEveryService{"tools/list", "tools/call", "resources/list",
                                                          "resources/read", "prompts/list"};

std::string text_of(const Json& body, std::size_t block) {
  const auto content = body.find("content");
  if (content == body.end() || !content->is_array() || content->size() <= block) return {};
  return text_in((*content)[block], "text");
}

// A tool's complaint as an error: bad arguments stay what they are, everything else is that the tool has failed.
RpcError failure_of_tool(const Json& body) {
  const Json details = Json::parse(text_of(body, 1), nullptr, false);
  const bool has_code = details.is_object() && details.contains("code") && details["code"].is_number_integer();
  const Json data = has_code ? details.value("data", Json()) : Json();
  std::string message = text_of(body, 0);
  if (message.empty()) message = "the tool has failed";
  const bool is_of_arguments = has_code && details["code"] == static_cast<int>(ErrorCode::kInvalidParams);
  return {is_of_arguments ? ErrorCode::kInvalidParams : ErrorCode::kToolFailed, message, data};
}

// How a tool answers in the direct dialect: once.
class DirectRequester final : public mcp::Requester {
 public:
  explicit DirectRequester(Reply& reply) : reply_(reply.shared_from_this()) {}

  void result(Json body) override {
    const auto failed = body.find("isError");
    if (failed != body.end() && *failed == true) return reply_->error(failure_of_tool(body));
    reply_->result(body);
  }
  void error(const RpcError& error) override { reply_->error(error); }
  void ask(mcp::Invocation& invocation, mcp::InputRequests, Json) override {
    invocation.error({ErrorCode::kToolFailed, invocation.name() + " asks its client something: call it over MCP"});
  }
  void notify(std::string_view, const Json&) override {}
  bool ready() const override { return reply_->peer().ready(); }

 private:
  const std::shared_ptr<Reply> reply_;
};

mcp::DoneFunction answer_to(Session& session, Reply& reply) {
  return [kept = reply.shared_from_this(),
          progress = std::make_shared<InProgress>(session, reply, InProgress::Cancelled::kAnswered)](
             const Json& result, const std::exception_ptr& error) {
    if (error) return kept->error(as_rpc_error(error));
    kept->result(result);
  };
}

Json object_or_nothing(const Json& params) {
  if (params.is_null()) return Json::object();
  if (!params.is_object() && !params.is_binary()) throw InvalidParams("params", "expected object");
  return params;
}

std::vector<std::string_view> names_of_tools(const mcp::Service& service) {
  std::vector<std::string_view> names;
  for (const auto& tool : service.tools) names.push_back(tool->name);
  return names;
}

// "a, b". Names of services need no quotes.
std::string listed_names(const std::vector<std::string>& names) {
  std::string text;
  for (const auto& name : names) text += (text.empty() ? "" : ", ") + name;
  return text;
}

}  // namespace

std::optional<std::string_view> ServiceCalls::own_method(std::string_view method) const {
  if (catalogue_.services.empty() || !catalogue_.is_server || !method.starts_with(catalogue_.name + "/"))
    return std::nullopt;
  return method.substr(catalogue_.name.size() + 1);
}

std::optional<ServiceCalls::Target> ServiceCalls::find(std::string_view method) const {
  for (const auto& service : catalogue_.services) {
    const bool is_addressed = method.starts_with(service->name) && method.substr(service->name.size()).starts_with('/');
    if (is_addressed) return Target{service, method.substr(service->name.size() + 1)};
  }
  std::optional<Target> found;
  for (const auto& service : catalogue_.services) {
    const bool has_it = std::ranges::any_of(service->methods, [&](const auto& each) { return each.name == method; });
    if (!has_it) continue;
    if (found) return std::nullopt;  // two services have such a method
    found = Target{service, method};
  }
  return found;
}

bool ServiceCalls::call(std::string_view method, const Json& params, Session& session, Reply& reply) const {
  if (catalogue_.services.empty()) return false;
  if (const auto target = find(method)) {
    if (call(*target, params, session, reply)) return true;
    throw no_such_method(*target);
  }
  // A name with two slashes ("x/memory/add_message"), or with "-server/", begins with that of a server.
  const auto slash = method.find('/');
  if (slash == std::string_view::npos || own_method(method)) return false;
  const std::string_view server = method.substr(0, slash);
  if (!server.ends_with("-server") && method.find('/', slash + 1) == std::string_view::npos) return false;
  if (server == "notifications" || server == "resources") return false;  // the protocol's own
  std::vector<std::string> names;
  if (catalogue_.is_server) names.push_back(catalogue_.name);
  for (const auto& each : catalogue_.services) names.push_back(each->name);
  throw RpcError(ErrorCode::kMethodNotFound,
                 "no server " + to_text(shortened(server)) + " exists; there are: " + listed_names(names),
                 Json{{"servers", names}});
}

RpcError ServiceCalls::no_such_method(const Target& target) const {
  std::vector<std::string_view> known(kOfEveryService.begin(), kOfEveryService.end());
  for (const auto& each : target.service->methods) known.push_back(each.name);
  const auto nearest = nearest_name(target.method, known);
  Json data{{"server", target.service->name}, {"nearest", nullptr}};
  if (nearest) data["nearest"] = *nearest;
  return {ErrorCode::kMethodNotFound,
          "method " + to_text(shortened(target.method)) + " not found on server '" + target.service->name + "'" +
              did_you_mean(target.method, known),
          std::move(data)};
}

bool ServiceCalls::call(const Target& target, const Json& given, Session& session, Reply& reply) const {
  const auto service = target.service;
  const auto own = std::ranges::find_if(service->methods, [&](const auto& each) { return each.name == target.method; });
  const bool is_known = own != service->methods.end() || std::ranges::count(kOfEveryService, target.method) > 0;
  if (!is_known) return false;
  Json params = object_or_nothing(given);
  permit(session, own != service->methods.end() ? own->permission : Permission::kCall);
  check_quota(session, reply.peer(), limits_.requests_per_session, limits_.counts);
  const mcp::PageLimits page{limits_.page_items, reply.peer().facts().max_message_bytes};
  if (own != service->methods.end()) {
    own->run({std::move(params), session.principal, mcp::AnswerForm::kDirect},
             [service, done = answer_to(session, reply)](Json result, const std::exception_ptr& error) {
               done(std::move(result), error);
             });
  } else if (target.method == "tools/list") {
    mcp::Catalogue tools;
    tools.tools = service->tools;
    reply.result(list_tools(tools, session, params, page));
  } else if (target.method == "tools/call") {
    call_tool(*service, read_whole(std::move(params), kMostValuesReadOnLoop), session, reply);
  } else if (target.method == "prompts/list") {
    mcp::Catalogue prompts;
    prompts.prompts = service->prompts;
    reply.result(list_prompts(prompts, session, params, page));
  } else if (target.method == "resources/list") {
    mcp::list_documents_of(*service, *session.principal, params, page, answer_to(session, reply));
  } else {
    const std::string uri = required_text_in(params, "uri");
    if (!service->documents.read) {
      throw RpcError(ErrorCode::kResourceNotFound, "no resource " + to_text(shortened(uri)) + " exists");
    }
    service->documents.read(*session.principal, uri, answer_to(session, reply));
  }
  return true;
}

void ServiceCalls::call_tool(const mcp::Service& service, const Json& params, Session& session, Reply& reply) const {
  const std::string name = required_text_in(params, "name");
  const auto tool = std::ranges::find_if(service.tools, [&](const auto& each) { return each->name == name; });
  if (tool == service.tools.end()) {
    throw InvalidParams("params.name", "no tool " + to_text(shortened(name)) + " exists on server '" + service.name +
                                           "'" + did_you_mean(name, names_of_tools(service)));
  }
  permit(session, (*tool)->permission);
  const mcp::Revision& revision = mcp::newest_handshake_revision();
  mcp::InvocationRequest asked{session.shared_from_this(), reply.shared_from_this(),
                               mcp::ClientContext{&revision, Json::object(), std::nullopt}, "tools/call", name};
  if (const auto arguments = params.find("arguments"); arguments != params.end() && !arguments->is_null()) {
    if (!arguments->is_object()) throw InvalidParams("params.arguments", "expected object");
    asked.arguments = *arguments;
  }
  const auto invocation =
      std::make_shared<mcp::Invocation>(std::move(asked), std::make_unique<DirectRequester>(reply),
                                        [held = *tool](mcp::Invocation& running) { held->run(running); });
  invocation->when_ended([] {});  // from here on it counts as a request in progress
  invocation->run();
}

std::vector<std::string_view> ServiceCalls::plain_names() const {
  std::vector<std::string_view> names;
  for (const auto& service : catalogue_.services) {
    for (const auto& method : service->methods) {
      if (find(method.name)) names.push_back(method.name);
    }
  }
  return names;
}

}  // namespace rkllm_mcp
