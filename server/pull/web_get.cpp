#include "pull/web_get.hpp"

#include "client/http/http_error.hpp"
#include "verified_client.hpp"
#include "version.hpp"

#include <rkllm_mcp/lower_case.hpp>

#include <httplib.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdlib>
#include <initializer_list>
#include <memory>
#include <utility>

namespace rkllm_mcp {
namespace {

constexpr int kMostRedirects = 8;
constexpr std::chrono::seconds kPatience{60};  // for a connection, and for each wait for bytes

// "localhost,.example.org,10.0.0.1": the host itself, or what ends with it.
bool is_exempt(const std::string& host, const std::string& list) {
  std::size_t at = 0;
  while (at <= list.size()) {
    const auto comma = std::min(list.find(',', at), list.size());
    std::string each = in_lower_case(list.substr(at, comma - at));
    at = comma + 1;
    each.erase(std::remove(each.begin(), each.end(), ' '), each.end());
    if (each.empty()) continue;
    if (each == "*") return true;
    if (each.front() == '.') each.erase(0, 1);
    if (host == each || host.ends_with("." + each)) return true;
  }
  return false;
}

void set_up(httplib::ClientImpl& client, const WebGet& how) {
  client.set_socket_options([watch = how.on_socket](auto socket) { watch(static_cast<int>(socket)); });
  client.set_connection_timeout(kPatience);
  client.set_read_timeout(kPatience);
  client.set_write_timeout(kPatience);
  client.set_url_encode(false);
}

std::unique_ptr<httplib::ClientImpl> client_for(const Url& url, const WebGet& how, const std::optional<Proxy>& proxy) {
  auto client = new_verified_client(url, how.ca_file);
  if (proxy) {
    client->set_proxy(proxy->host, proxy->port);
    if (!proxy->user.empty()) client->set_proxy_basic_auth(proxy->user, proxy->password);
  }
  set_up(*client, how);
  return client;
}

std::string authority_of(const Proxy& proxy) { return Url{.host = proxy.host, .port = proxy.port}.authority(); }

// Says that the proxy itself has answered, with the status 407.
std::string words_of_asking_proxy(const Proxy& proxy) {
  const std::string who = "the proxy " + authority_of(proxy);
  if (!proxy.user.empty()) return who + " does not take the name and password of " + proxy.variable;
  return who + " asks for a name and a password: " + proxy.variable + "=http://NAME:PASSWORD@" + authority_of(proxy);
}

// What can be done. A mirror helps only who asks the hub.
std::string words_of_no_connection(const Url& url, const WebGet& how, const std::string& by_proxy) {
  std::string words = "no connection could be made" + by_proxy + "; look with rkllm-mcp doctor";
  if (!by_proxy.empty()) return words;
  const bool is_hub = how.trusted && how.trusted->has_origin_of(url);
  return words + ", or set a proxy (" + (url.scheme == Url::Scheme::kHttps ? "https_proxy" : "http_proxy") + ")" +
         (is_hub ? " or a mirror (runtime.model_hub)" : "");
}

std::string words_of(httplib::Error error, const Url& url, const WebGet& how, const std::optional<Proxy>& proxy) {
  const std::string by_proxy = proxy ? " through the proxy " + authority_of(*proxy) : std::string();
  if (client::is_not_connected(error)) return words_of_no_connection(url, how, by_proxy);
  switch (error) {
    case httplib::Error::SSLLoadingCerts: return "there are no certificates to verify its own with (ca-certificates)";
    case httplib::Error::SSLConnection: return "no encrypted connection could be made" + by_proxy;
    case httplib::Error::Read:
      return (proxy ? "the way through the proxy " + authority_of(*proxy) : "it") +
             " does not answer, has broken off, or sends headers without end";
    default: return "HTTP failed: " + httplib::to_string(error);
  }
}

constexpr int kProxyAsks = 407;

bool is_redirect(int status) {
  return status == 301 || status == 302 || status == 303 || status == 307 || status == 308;
}

std::string user_agent() { return "rkllm-mcp/" + std::string(kProgramVersion); }

// cpp-httplib 0.11 waits for itself, for ever, where a proxy's answer to CONNECT ends the connection in its eyes: by
// "Connection: close", or by HTTP/1.0 with other words than these.
bool ends_connection(const httplib::Response& response) {
  return in_lower_case(response.get_header_value("Connection")) == "close" ||
         (response.version == "HTTP/1.0" && response.reason != "Connection established");
}

// Asks the proxy on a connection of its own whether it accepts CONNECT: cpp-httplib may wait for ever if it does not.
// A proxy that accepts here and refuses the request itself a moment later still makes it wait.
void require_way(const Url& url, const Proxy& proxy, const WebGet& how) {
  httplib::ClientImpl client(proxy.host, proxy.port);
  set_up(client, how);
  const bool is_v6 = url.host.find(':') != std::string::npos;
  httplib::Request request;
  request.method = "CONNECT";
  request.path = (is_v6 ? "[" + url.host + "]" : url.host) + ":" + std::to_string(url.port);
  request.headers = {{"Host", request.path}, {"User-Agent", user_agent()}};
  if (!proxy.user.empty()) {
    request.headers.insert(httplib::make_basic_authentication_header(proxy.user, proxy.password, true));
  }
  httplib::Response response;
  auto error = httplib::Error::Success;
  const bool is_complete = client.send(request, response, error);
  if (!how.goes_on()) throw WebStopped("stopped");
  if (!is_complete) throw WebFailed(url.authority() + ": " + words_of(error, url, how, proxy));
  if (response.status == kProxyAsks) throw WebFailed(url.authority() + ": " + words_of_asking_proxy(proxy));
  if (response.status / 100 == 2 && ends_connection(response)) {
    throw WebFailed(url.authority() + ": the proxy " + authority_of(proxy) +
                    " answers in a way that is not understood here: as HTTP/1.0, or with Connection: close");
  }
  if (response.status / 100 == 2) return;
  throw WebFailed(url.authority() + ": the proxy " + authority_of(proxy) + " answers " +
                  std::to_string(response.status) + " to the request for a connection (CONNECT)");
}

// One answer, without following it.
WebHead get_once(const Url& url, const WebGet& how) {
  const auto proxy = proxy_for(url, [](const char* name) -> const char* { return std::getenv(name); });
  const bool is_tunnel = proxy && url.scheme == Url::Scheme::kHttps;
  if (is_tunnel) require_way(url, *proxy, how);
  const auto client = client_for(url, how, proxy);
  WebHead head{url, 0, {}};
  bool is_refused = false;
  bool has_body = false;
  const auto is_of_proxy = [&](int status) { return proxy && !is_tunnel && status == kProxyAsks; };
  httplib::Request request;
  request.method = "GET";
  request.path = url.target;
  request.headers = {
      {"Host", url.authority()}, {"User-Agent", user_agent()}, {"Accept", "*/*"}, {"Accept-Encoding", "identity"}};
  for (const auto& [name, value] : how.headers) request.headers.emplace(name, value);
  if (!how.token.empty() && how.trusted && how.trusted->has_origin_of(url)) {
    request.headers.emplace("Authorization", "Bearer " + how.token);
  }
  // cpp-httplib sends the proxy's password also to the server behind it, unless the request has such a header.
  if (is_tunnel && !proxy->user.empty()) request.headers.emplace("Proxy-Authorization", "");
  const auto take_head = [&](const httplib::Response& response) {
    head.status = response.status;
    for (const auto& [name, value] : response.headers) head.headers[in_lower_case(name)] = value;
  };
  request.response_handler = [&](const httplib::Response& response) {
    take_head(response);
    if (is_of_proxy(head.status)) return false;
    has_body = true;
    is_refused = !is_redirect(head.status) && !how.on_head(head);
    return !is_refused && how.goes_on();
  };
  request.content_receiver = [&](const char* bytes, std::size_t count, std::uint64_t, std::uint64_t) {
    if (is_redirect(head.status) || !how.on_bytes) return how.goes_on();
    is_refused = !how.on_bytes({bytes, count});
    return !is_refused && how.goes_on();
  };
  httplib::Response response;
  auto error = httplib::Error::Success;
  const bool is_complete = client->send(request, response, error);
  if (is_refused || !how.goes_on()) throw WebStopped("stopped");
  if (is_complete && !has_body) take_head(response);  // the handler is not asked
  if (is_of_proxy(head.status)) throw WebFailed(url.authority() + ": " + words_of_asking_proxy(*proxy));
  if (is_complete) {
    if (!has_body && !is_redirect(head.status) && !how.on_head(head)) throw WebStopped("stopped");
    return head;
  }
  if (has_body) throw BrokenOff(url.authority() + " has broken off");
  if (client::is_certificate_refused(error)) {
    throw UntrustedHost(url.authority() +
                        ": its certificate cannot be verified; look at the clock with rkllm-mcp doctor");
  }
  throw WebFailed(url.authority() + ": " + words_of(error, url, how, proxy));
}

}  // namespace

std::string WebHead::header(const std::string& name) const {
  const auto found = headers.find(name);
  return found == headers.end() ? std::string() : found->second;
}

WebHead web_get(const Url& url, const WebGet& how) {
  Url at = url;
  for (int redirects = 0; redirects <= kMostRedirects; ++redirects) {
    WebHead head = get_once(at, how);
    if (!is_redirect(head.status)) return head;
    const auto next = resolve_url(at, head.header("location"));
    if (!next) throw WebFailed(at.authority() + " redirects to nowhere");
    if (at.scheme == Url::Scheme::kHttps && next->scheme == Url::Scheme::kHttp) {
      throw WebFailed(at.authority() + " redirects to an address without encryption (" + next->authority() + ")");
    }
    at = *next;
  }
  throw WebFailed(url.authority() + " redirects more than " + std::to_string(kMostRedirects) + " times");
}

std::string web_text(const Url& url, WebGet how, std::size_t max_bytes) {
  std::string body;
  bool is_long = false;
  how.on_bytes = [&](std::string_view bytes) {
    is_long = body.size() + bytes.size() > max_bytes;
    if (!is_long) body.append(bytes);
    return !is_long;
  };
  try {
    const WebHead head = web_get(url, how);
    if (head.status != 200) throw WebFailed(head.url.authority() + " answers " + std::to_string(head.status));
  } catch (const WebStopped&) {
    if (is_long) throw WebFailed(url.authority() + " answers with more than " + std::to_string(max_bytes) + " bytes");
    throw;
  }
  return body;
}

std::optional<Proxy> proxy_for(const Url& url, const std::function<const char*(const char*)>& variable) {
  const auto first_of = [&variable](std::initializer_list<const char*> names) -> std::pair<std::string, std::string> {
    for (const char* const name : names) {
      const char* const value = variable(name);
      if (value != nullptr && *value != '\0') return {name, value};
    }
    return {};
  };
  // HTTP_PROXY is left alone: in a CGI program a client sets it.
  auto [name, text] = url.scheme == Url::Scheme::kHttps
                          ? first_of({"https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"})
                          : first_of({"http_proxy", "all_proxy", "ALL_PROXY"});
  if (text.empty() || is_exempt(url.host, first_of({"no_proxy", "NO_PROXY"}).second)) return std::nullopt;
  const auto scheme = text.find("://");
  if (scheme != std::string::npos && text.substr(0, scheme) != "http" && in_lower_case(name) == "all_proxy")
    return std::nullopt;
  if (scheme == std::string::npos) text.insert(0, "http://");
  Proxy proxy;
  proxy.variable = name;
  const auto begin = text.find("://") + 3;
  if (const auto at = text.rfind('@'); at != std::string::npos && at > begin) {
    const std::string who = text.substr(begin, at - begin);
    const auto colon = who.find(':');
    proxy.user = percent_decoded(who.substr(0, colon));
    if (colon != std::string::npos) proxy.password = percent_decoded(who.substr(colon + 1));
    text.erase(begin, at + 1 - begin);
  }
  try {
    const Url place = parse_url(text);
    proxy.host = place.host;
    proxy.port = place.port;
  } catch (const std::invalid_argument& error) {
    throw WebFailed("the proxy of " + name + ": " + error.what());
  }
  return proxy;
}

}  // namespace rkllm_mcp
