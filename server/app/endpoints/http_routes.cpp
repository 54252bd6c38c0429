#include "app/endpoints/http_routes.hpp"

#include "auth/access_tokens.hpp"
#include "jsonrpc/envelope.hpp"
#include "mcp/lists/resources.hpp"
#include "text/url.hpp"

#include <rkllm_mcp/errors.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <optional>
#include <string_view>

namespace rkllm_mcp {
namespace {

http::Response json_response(int status, const Json& body) {
  return {status, {{"Cache-Control", "no-store"}}, "application/json", to_text(body)};
}

// HEAD asks for the same; the connection leaves the body out.
bool is_get(const http::Request& request) { return request.method == "GET" || request.method == "HEAD"; }

// "x" of "/servers/x/capabilities".
std::optional<std::string_view> server_asked_for(std::string_view path) {
  constexpr std::string_view kBefore = "/servers/";
  constexpr std::string_view kAfter = "/capabilities";
  if (!path.starts_with(kBefore) || !path.ends_with(kAfter) || path.size() <= kBefore.size() + kAfter.size()) {
    return std::nullopt;
  }
  return path.substr(kBefore.size(), path.size() - kBefore.size() - kAfter.size());
}

constexpr std::array<std::string_view, 9> kRoutes{"/",       "/mcp",     "/sse",     "/messages", "/jsonrpc",
                                                  "/health", "/metrics", "/servers", "/log"};

bool is_route(std::string_view path) {
  return std::find(kRoutes.begin(), kRoutes.end(), path) != kRoutes.end() || path.starts_with("/servers/");
}

http::Response nothing_here(bool has_log) {
  return http::plain_response(404, std::string("Nothing here. POST JSON-RPC to /jsonrpc, MCP to /mcp; GET /health, "
                                               "/metrics, /servers") +
                                       (has_log ? ", /log." : "."));
}

}  // namespace

void HttpRoutes::handle(const http::Request& request, http::Exchange& exchange) try {
  if (first_ && first_(request, exchange)) return;
  // Checked before the token: a host whose token is refused looks below /.well-known/ for a way to log in, and has to
  // learn from a 404 that there is none.
  if (!is_route(request.path)) return exchange.respond(nothing_here(log_ != nullptr));
  if (request.principal == nullptr) return refuse(request, exchange);
  if (request.path == "/mcp") return mcp_.handle(request, exchange);
  if (request.path == "/sse" && request.method == "GET") return paired_.open(request, exchange);
  if (request.path == "/messages" && request.method == "POST") return paired_.take(request, exchange);
  if (request.path == "/jsonrpc") return plain_.handle(request, exchange);
  if (request.path == "/" && request.method == "POST") return plain_.handle(request, exchange);
  if (is_get(request) && get(request, exchange)) return;
  exchange.respond(nothing_here(log_ != nullptr));
} catch (...) {
  const RpcError error = as_rpc_error(std::current_exception());
  exchange.respond(
      {500, {{"Cache-Control", "no-store"}}, "application/json", error_message(RequestId(kNullId), error)});
  throw;
}

// Without a valid token a client learns only whether the server is well.
void HttpRoutes::refuse(const http::Request& request, http::Exchange& exchange) {
  const bool is_guess = !request.bearer_token().empty();
  http::Response response;
  if (request.path == "/health" && is_get(request)) {
    response = json_response(200, Json{{"status", health_()["status"]}});
  } else {
    response = json_response(401, Json::object());
    response.body = error_message(RequestId(kNullId),
                                  unauthorized(is_guess ? gate_.complaint(request.remote)
                                                        : "an access token is required: Authorization: Bearer TOKEN"));
    response.headers.add("WWW-Authenticate", "Bearer");
  }
  if (!is_guess) return exchange.respond(response);
  gate_.refuse_guess(request.remote, [kept = exchange.shared_from_this(), response] { kept->respond(response); });
}

Json HttpRoutes::own_capabilities(Json description) const {
  description["capabilities"] = server_->capabilities;
  if (server_->is_simulated()) description["simulated"] = true;
  return description;
}

std::vector<std::string> HttpRoutes::names() const {
  std::vector<std::string> names;
  if (server_) names.push_back(server_->name);
  for (const auto& service : dispatcher_.mcp().catalogue().services) names.push_back(service->name);
  return names;
}

void HttpRoutes::list_servers(const Principal& asking, http::Exchange& exchange) {
  struct Gathering {
    std::vector<Json> servers;
    std::size_t missing = 0;
  };
  const auto& services = dispatcher_.mcp().catalogue().services;
  const auto gathering = std::make_shared<Gathering>();
  if (server_) gathering->servers.push_back(own_capabilities(Json{{"name", server_->name}}));
  gathering->missing = services.size();
  const auto answer = [kept = exchange.shared_from_this(), gathering] {
    kept->respond(json_response(200, Json{{"servers", gathering->servers}}));
  };
  if (services.empty()) return answer();
  for (const auto& service : services) {
    const std::size_t at = gathering->servers.size();
    gathering->servers.push_back(Json{{"name", service->name}});
    mcp::describe_service(*service, asking, dispatcher_.options().page_items,
                          [gathering, at, answer](Json capabilities) {
                            gathering->servers[at]["capabilities"] = std::move(capabilities);
                            if (--gathering->missing == 0) answer();
                          });
  }
}

void HttpRoutes::describe_server(std::string_view name, const Principal& asking, http::Exchange& exchange) {
  if (server_ && name == server_->name) {
    return exchange.respond(json_response(200, own_capabilities(Json{{"server_name", server_->name}})));
  }
  for (const auto& service : dispatcher_.mcp().catalogue().services) {
    if (service->name != name) continue;
    return mcp::describe_service(
        *service, asking, dispatcher_.options().page_items,
        [kept = exchange.shared_from_this(), name = service->name](Json capabilities) {
          kept->respond(json_response(200, Json{{"server_name", name}, {"capabilities", std::move(capabilities)}}));
        });
  }
  exchange.respond(json_response(404, Json{{"error", "no such server"}, {"servers", names()}}));
}

// A client that asks again sends the `next` of the last answer as `from`.
http::Response HttpRoutes::log_lines(const http::Request& request, const Principal& asking) const {
  if (!asking.may_admin) {
    return json_response(403, Json{{"error", "the log takes an access token with the permission admin"}});
  }
  std::uint64_t from = 0;
  const std::string text = query_value(request.query, "from").value_or("0");
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), from);
  if (error != std::errc{} || end != text.data() + text.size()) {
    return json_response(400, Json{{"error", "from: expected the number of a line"}});
  }
  LogTail::Part part = log_->from(from);
  const std::uint64_t next = part.first + part.lines.size();
  return json_response(200, Json{{"first", part.first}, {"next", next}, {"lines", std::move(part.lines)}});
}

bool HttpRoutes::get(const http::Request& request, http::Exchange& exchange) {
  const Principal& asking = *request.principal;
  if (request.path == "/health") {
    exchange.respond(json_response(200, health_()));
  } else if (request.path == "/metrics") {
    exchange.respond({200, {{"Cache-Control", "no-store"}}, "text/plain; version=0.0.4", metrics_()});
  } else if (request.path == "/log" && log_ != nullptr) {
    exchange.respond(log_lines(request, asking));
  } else if (request.path == "/servers") {
    list_servers(asking, exchange);
  } else if (const auto name = server_asked_for(request.path)) {
    describe_server(*name, asking, exchange);
  } else {
    return false;
  }
  return true;
}

}  // namespace rkllm_mcp
