// Fetches from the web, by cpp-httplib: one GET after the other until there are no more redirects. Certificates are
// verified; addresses that are not public are refused, at every redirect, and the address that was looked at is the one
// that is connected to, so that a name that means another address a moment later (DNS rebinding) gains nothing.
//
// Threads: any; every fetch blocks the one that it is made on. StopSignal::stop() ends it at once, unless the system is
// just looking up a name, which it does not interrupt.
#pragma once

#include "text/ip_address.hpp"
#include "text/url.hpp"
#include "threads/stop_signal.hpp"

#include <chrono>
#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace rkllm_mcp {

struct WebAnswer {
  Url url;  // where the redirects have led
  int status = 0;
  std::string content_type;
  std::string body;     // unpacked
  bool is_cut = false;  // there was more than max_bytes
};

// All addresses of a host, in the order in which they are to be tried. Blocks. Throws ToolFailure.
using ResolveFunction = std::function<std::vector<IpAddress>(const std::string& host)>;

// By the system.
std::vector<IpAddress> resolve_by_system(const std::string& host);

class WebClient {
 public:
  struct Options {
    std::string user_agent;
    std::string ca_file{};                       // PEM; empty: the system's certificates
    std::vector<IpNetwork> allowed{};            // may be asked although they are not public
    std::chrono::milliseconds patience{10'000};  // for a connection, and for each wait for bytes
    ResolveFunction resolve = resolve_by_system;
  };
  struct Request {
    Url url;
    std::size_t max_bytes;         // of the body, unpacked; what is longer is cut
    std::optional<Url> trusted{};  // its host and port may be at any address: the settings name it
    std::string accept = "*/*";
  };

  static constexpr int kMostRedirects = 5;

  explicit WebClient(Options options) : options_(std::move(options)) {}

  // An answer of any status but a redirect. Throws ToolFailure, whose words name the host but never a query, which may
  // hold a key.
  WebAnswer get(const Request& request, StopSignal& stop) const;

 private:
  std::vector<IpAddress> addresses_for(const Url& url, const Request& request) const;
  bool is_allowed(const IpAddress& address) const;

  const Options options_;
};

}  // namespace rkllm_mcp
