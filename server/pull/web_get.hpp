// One GET over HTTP or HTTPS, by cpp-httplib, with its redirects: for files that a person has asked for by their
// address. Certificates are verified. The proxies of the environment are used (https_proxy, http_proxy, no_proxy).
//
// Threads: any; blocks the one that it is called on.
#pragma once

#include "text/url.hpp"

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>

namespace rkllm_mcp {

struct WebHead {
  Url url;  // where the redirects have led
  int status = 0;
  std::map<std::string, std::string> headers{};  // names in lower case

  std::string header(const std::string& name) const;
};

// No complete answer was received. The words name the host, never a query, which may hold a key.
class WebFailed : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};
// Its certificate cannot be verified. What else can be done depends on who asks.
class UntrustedHost : public WebFailed {
 public:
  using WebFailed::WebFailed;
};
// The connection has broken off in the middle of a body.
class BrokenOff : public WebFailed {
 public:
  using WebFailed::WebFailed;
};
// `goes_on`, `on_head` or `on_bytes` has said no.
class WebStopped : public WebFailed {
 public:
  using WebFailed::WebFailed;
};

struct WebGet {
  std::string ca_file{};                                   // PEM; empty: the system's certificates
  std::string token{};                                     // of access, for `trusted` alone; empty: none
  std::optional<Url> trusted{};                            // whose scheme, host and port get the token
  std::map<std::string, std::string> headers{};            // more of them
  std::function<bool()> goes_on = [] { return true; };     // asked again and again; false stops
  std::function<void(int socket)> on_socket = [](int) {};  // each that is made; shutdown() on it ends the wait
  std::function<bool(const WebHead&)> on_head = [](const WebHead&) { return true; };  // false: the body is not read
  std::function<bool(std::string_view)> on_bytes{};
};

// Returns the head of the last answer, whatever its status. Throws WebFailed and its kinds.
WebHead web_get(const Url& url, const WebGet& how);
// A short body, of at most `max_bytes`; throws WebFailed also for a longer one and for a status other than 200.
std::string web_text(const Url& url, WebGet how, std::size_t max_bytes);

struct Proxy {
  std::string host;
  std::uint16_t port;
  std::string user{};  // empty: it wants none
  std::string password{};
  std::string variable{};  // of the environment, that names it
};
// The proxy that the environment names for this address; nothing if there is none, or one that does not speak HTTP.
// Throws WebFailed for one that is no address.
std::optional<Proxy> proxy_for(const Url& url, const std::function<const char*(const char*)>& variable);

}  // namespace rkllm_mcp
