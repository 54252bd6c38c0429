#include "mcp/mcp_server.hpp"

#include "jsonrpc/envelope.hpp"
#include "mcp/page.hpp"
#include "mcp/protocol.hpp"
#include "mcp/tool_call.hpp"

#include <rkllm_mcp/errors.hpp>

#include <algorithm>
#include <string>

namespace rkllm_mcp {
namespace {

constexpr std::size_t kEnvelopeBytes = 1024;  // of a list's reply besides its entries

PageLimits page_limits(std::size_t items, const Peer& peer) {
  return {items, peer.max_message_bytes() - std::min(peer.max_message_bytes(), kEnvelopeBytes)};
}

std::string required_string(const Json& params, const char* name) {
  const std::string path = std::string("params.") + name;
  if (!params.is_object() || !params.contains(name)) throw InvalidParams(path, "missing");
  if (!params[name].is_string()) throw InvalidParams(path, "expected string");
  return params[name].get<std::string>();
}

Json tool_of(const Method& method) {
  const ToolAnnotations& hints = method.annotations;
  return Json{{"name", method.name},
              {"title", method.title},
              {"description", method.description},
              {"inputSchema", Json::parse(method.input_schema)},
              {"outputSchema", Json::parse(method.output_schema)},
              {"annotations",
               {{"title", method.title},
                {"readOnlyHint", hints.read_only},
                {"destructiveHint", hints.destructive},
                {"idempotentHint", hints.idempotent},
                {"openWorldHint", hints.open_world}}}};
}

}  // namespace

bool McpServer::handle(const Request& request, const std::shared_ptr<Session>& session,
                       const std::shared_ptr<Reply>& reply) {
  const std::string& method = request.method;
  const Json& params = request.params;
  if (method == "initialize") {
    reply->result(initialize(params, *session));
  } else if (method == "ping") {
    reply->result(Json::object());
  } else if (method == "tools/list") {
    reply->result(list_tools(params, reply->peer()));
  } else if (method == "tools/call") {
    call_tool(params, session, reply);
  } else if (method == "resources/list") {
    reply->result(list_resources(params, reply->peer()));
  } else if (method == "resources/templates/list") {
    reply->result(list_resource_templates(params, reply->peer()));
  } else if (method == "resources/read") {
    reply->result(read_resource(params));
  } else {
    return false;
  }
  return true;
}

bool McpServer::handle(const Notification& notification, Session& session) {
  if (notification.method == "notifications/cancelled") {
    const Json& params = notification.params;
    if (params.is_object() && params.contains("requestId")) session.cancel_request(to_text(params["requestId"]));
    return true;
  }
  return notification.method.starts_with("notifications/");  // the others need no action
}

Json McpServer::initialize(const Json& params, Session& session) const {
  const std::string revision(negotiated_revision(required_string(params, "protocolVersion")));
  session.protocol_version = revision;
  const Api& api = caller_.api();
  return Json{{"protocolVersion", revision},
              {"capabilities", {{"tools", Json::object()}, {"resources", Json::object()}}},
              {"serverInfo", {{"name", api.name}, {"title", api.title}, {"version", api.version}}},
              {"instructions", api.instructions}};
}

Json McpServer::list_tools(const Json& params, const Peer& peer) const {
  const auto methods = caller_.api().methods;
  return page_of(
      "tools", params, methods.size(), [&](std::size_t at) { return tool_of(methods[at]); },
      page_limits(page_items_, peer));
}

Json McpServer::list_resources(const Json& params, const Peer& peer) const {
  const auto& resources = caller_.api().resources;
  const auto entry = [&](std::size_t at) {
    const auto& resource = resources[at];
    Json listed{{"uri", resource.uri},
                {"name", resource.name},
                {"title", resource.title},
                {"description", resource.description},
                {"mimeType", resource.mime_type}};
    if (resource.size) listed["size"] = *resource.size;
    return listed;
  };
  return page_of("resources", params, resources.size(), entry, page_limits(page_items_, peer));
}

Json McpServer::list_resource_templates(const Json& params, const Peer& peer) const {
  const auto& templates = caller_.api().resource_templates;
  const auto entry = [&](std::size_t at) {
    const auto& each = templates[at];
    return Json{{"uriTemplate", each.uri_template},
                {"name", each.name},
                {"title", each.title},
                {"description", each.description},
                {"mimeType", each.mime_type}};
  };
  return page_of("resourceTemplates", params, templates.size(), entry, page_limits(page_items_, peer));
}

Json McpServer::read_resource(const Json& params) const {
  const std::string uri = required_string(params, "uri");
  const auto contents = [&](const std::string& mime_type, const std::string& text) {
    return Json{{"contents", Json::array({Json{{"uri", uri}, {"mimeType", mime_type}, {"text", text}}})}};
  };
  for (const auto& resource : caller_.api().resources) {
    if (resource.uri == uri) return contents(resource.mime_type, resource.text());
  }
  for (const auto& each : caller_.api().resource_templates) {
    if (const auto text = each.text(uri)) return contents(each.mime_type, *text);
  }
  throw RpcError(ErrorCode::kInvalidParams, "params.uri: no resource " + to_text(uri) + " exists", Json{{"uri", uri}});
}

void McpServer::call_tool(const Json& params, const std::shared_ptr<Session>& session,
                          const std::shared_ptr<Reply>& reply) {
  const std::string name = required_string(params, "name");
  const Method* method = caller_.api().method(name);
  if (const Elsewhere* other = caller_.api().method_elsewhere(name)) {
    return reply->result(tool_error(unsupported(name, other->versions, caller_.api().api_version)));
  }
  if (method == nullptr) throw InvalidParams("params.name", "no tool " + to_text(name) + " exists");
  Json arguments = params.contains("arguments") ? params["arguments"] : Json::object();
  if (!arguments.is_object()) throw InvalidParams("params.arguments", "expected object");
  Json progress_token;
  if (params.contains("_meta") && params["_meta"].is_object() && params["_meta"].contains("progressToken")) {
    progress_token = params["_meta"]["progressToken"];
  }
  start_tool_call(loop_, caller_, {*method, std::move(arguments), std::move(progress_token)}, session, reply);
}

}  // namespace rkllm_mcp
