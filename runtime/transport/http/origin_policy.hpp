// Who may ask: the check that keeps web pages from using a server on the user's own machine. A browser names the page
// in Origin and the name it looked up in Host; a page of somebody else's shows a foreign origin, and one that has
// tricked the browser's name resolution (DNS rebinding) shows a foreign host.
#pragma once

#include "transport/http/http_message.hpp"

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace rkllm_mcp::http {

struct OriginOptions {
  // Origins whose pages may call from a browser and read the answers: "https://chat.example", or "*" for all.
  std::vector<std::string> allowed_origins;
  // Names of this server besides the loopback names ("board.local"): a server bound to loopback answers to no others,
  // and its own pages may call it under them.
  std::vector<std::string> allowed_hosts;
  // The requests whose answers pages of loopback origins may read, too; others they may only send. Null: none.
  std::function<bool(const Request& request)> local_pages_read{};
  // The names by which refusals (403) call the two lists above.
  std::string origins_name = "the allowed origins";
  std::string hosts_name = "the allowed hosts";
};

class OriginPolicy {
 public:
  enum class Binding { kLoopback, kNetwork };

  OriginPolicy(OriginOptions options, Binding binding);

  // Nothing if the request may pass, else why not (for a 403). Requests without Origin pass: they come from programs.
  std::optional<std::string> objection(const Request& request) const;

  // What lets the page of a listed origin, or of a loopback one where those may, read the answer; empty for everybody
  // else.
  Headers cors_headers(const Request& request) const;
  // The answer to a browser that asks beforehand (OPTIONS with Access-Control-Request-Method); nothing for other
  // requests.
  std::optional<Response> preflight(const Request& request) const;

 private:
  bool lists_origin(std::string_view origin) const;
  // The origin of the request, if its page may read the answer.
  std::optional<std::string_view> reading_origin(const Request& request) const;
  bool lists_host(std::string_view authority) const;

  OriginOptions options_;
  Binding binding_;
};

// "localhost:8080", "127.0.0.1", "[::1]:80": the machine itself, with or without a port.
bool is_loopback_host(std::string_view authority);

}  // namespace rkllm_mcp::http
