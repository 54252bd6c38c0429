#include "transport/http/origin_policy.hpp"

#include <algorithm>
#include <utility>

namespace rkllm_mcp::http {

namespace {

std::string_view without_port(std::string_view authority) {
  if (!authority.empty() && authority.front() == '[') return authority.substr(0, authority.find(']') + 1);
  return authority.substr(0, authority.find(':'));
}

// "http://localhost:3000" -> "localhost:3000"; empty for anything but http and https.
std::string_view authority_of(std::string_view origin) {
  for (const std::string_view scheme : {"http://", "https://"}) {
    if (equal_ignoring_case(origin.substr(0, scheme.size()), scheme)) return origin.substr(scheme.size());
  }
  return {};
}

bool is_digits(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

// Addresses need no name resolution, so nobody can play tricks with it.
bool is_address(std::string_view host) {
  return !host.empty() && (host.front() == '[' || host.find_first_not_of("0123456789.") == std::string_view::npos);
}

}  // namespace

bool is_loopback_host(std::string_view authority) {
  const auto host = without_port(authority);
  const auto rest = authority.substr(host.size());
  if (!rest.empty() && (rest[0] != ':' || !is_digits(rest.substr(1)))) return false;
  return equal_ignoring_case(host, "localhost") || host == "127.0.0.1" || host == "[::1]";
}

OriginPolicy::OriginPolicy(OriginOptions options, Binding binding) : options_(std::move(options)), binding_(binding) {}

bool OriginPolicy::lists_origin(std::string_view origin) const {
  return std::any_of(
      options_.allowed_origins.begin(), options_.allowed_origins.end(),
      [origin](const std::string& allowed) { return allowed == "*" || equal_ignoring_case(allowed, origin); });
}

bool OriginPolicy::lists_host(std::string_view authority) const {
  return std::any_of(
      options_.allowed_hosts.begin(), options_.allowed_hosts.end(), [authority](const std::string& host) {
        return equal_ignoring_case(host, authority) || equal_ignoring_case(host, without_port(authority));
      });
}

std::optional<std::string> OriginPolicy::objection(const Request& request) const {
  const std::string_view host = request.host;
  const bool foreign_host = !host.empty() && !is_loopback_host(host) && !lists_host(host);
  if (binding_ == Binding::kLoopback && foreign_host)
    return "this Host is not served: ask for localhost, or have the name in " + options_.hosts_name;
  if (request.headers.count("Origin") > 1) return "several Origins";
  const auto origin = request.headers.find("Origin");
  if (!origin || lists_origin(*origin)) return std::nullopt;
  const auto authority = authority_of(*origin);
  if (is_loopback_host(authority)) return std::nullopt;
  // The server's own page, where name resolution cannot have been tricked.
  const bool same_origin = !authority.empty() && equal_ignoring_case(authority, host);
  if (same_origin && (is_address(without_port(host)) || lists_host(host))) return std::nullopt;
  return "this Origin is not allowed: have it in " + options_.origins_name;
}

std::optional<std::string_view> OriginPolicy::reading_origin(const Request& request) const {
  const auto origin = request.headers.find("Origin");
  if (!origin || objection(request)) return std::nullopt;
  const bool is_local = options_.local_pages_read && is_loopback_host(authority_of(*origin));
  if (lists_origin(*origin) || (is_local && options_.local_pages_read(request))) return origin;
  return std::nullopt;
}

Headers OriginPolicy::cors_headers(const Request& request) const {
  const auto origin = reading_origin(request);
  if (!origin) return {};
  return {{"Access-Control-Allow-Origin", std::string(*origin)},
          {"Access-Control-Expose-Headers",
           "Mcp-Session-Id, WWW-Authenticate, Retry-After, x-request-id, request-id, x-rkllm-ignored, "
           "x-rkllm-queue-position, x-rkllm-dropped-messages, x-rkllm-cut-inputs, x-rkllm-search, x-rkllm-simulated"},
          {"Vary", "Origin"}};
}

std::optional<Response> OriginPolicy::preflight(const Request& request) const {
  if (request.method != "OPTIONS" || !request.headers.find("Access-Control-Request-Method")) return std::nullopt;
  Response response;
  response.status = 204;
  if (!reading_origin(request)) return response;
  response.headers.add("Access-Control-Allow-Methods", "GET, POST, DELETE");
  // An origin whose pages may read may send whatever headers it likes; MCP's parameter headers have no closed list.
  if (const auto wanted = request.headers.find("Access-Control-Request-Headers")) {
    response.headers.add("Access-Control-Allow-Headers", *wanted);
  }
  response.headers.add("Access-Control-Max-Age", "600");
  return response;
}

}  // namespace rkllm_mcp::http
