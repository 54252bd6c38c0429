// A server of ours over HTTP as the commands for people see it, which answers what the test has written.
#pragma once

#include "cli/people/server_link.hpp"
#include "support/process.hpp"
#include "support/web_server.hpp"

#include <rkllm_mcp/json.hpp>

#include <asio/read.hpp>

#include <charconv>
#include <cstddef>
#include <functional>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>

namespace rkllm_mcp::test {

// A server with one answer to all that it is asked, and the link to it.
class LinkBench {
 public:
  explicit LinkBench(std::string answer)
      : LinkBench([answer = std::move(answer)](WebServer::Socket& socket) { WebServer::send(socket, answer); }) {}
  explicit LinkBench(const std::function<void(WebServer::Socket&)>& answer)
      : LinkBench([answer](const std::string&, const std::string&, WebServer::Socket& socket) { answer(socket); }) {}
  // Gets what was asked, too.
  using Answer = std::function<void(const std::string& head, const std::string& body, WebServer::Socket&)>;
  explicit LinkBench(Answer answer) : answer_(std::move(answer)) {}

  ServerLink link(const std::string& token = {}) const { return link_to(web_.url(""), token); }
  ServerLink link_to(const std::string& to, const std::string& token = {}) const {
    SettingsRequest request;
    request.path = folder_ / "settings.json";
    write_file(*request.path, Json{{"http", {{"port", 9000}}}}.dump());
    return {{.to = to, .token = token, .ca_file = {}}, request};
  }
  std::string url() const { return web_.url(""); }
  // Of the latest request.
  std::string head() const { return web_.heads().back(); }
  std::string body() const {
    const std::lock_guard lock(mutex_);
    return body_;
  }

 private:
  // The rest of a request whose head has come, and perhaps more.
  static std::string body_behind(const std::string& head, WebServer::Socket& socket) {
    const auto end = head.find("\r\n\r\n") + 4;
    std::string body = head.substr(end);
    const auto field = head.find("Content-Length: ");
    if (field == std::string::npos || field > end) return body;
    std::size_t length = 0;
    std::from_chars(head.data() + field + std::string_view("Content-Length: ").size(), head.data() + end, length);
    const std::size_t come = body.size();
    body.resize(length);
    asio::error_code error;
    asio::read(socket, asio::buffer(body.data() + come, length - come), error);
    return body;
  }

  TemporaryDirectory folder_;
  const Answer answer_;
  mutable std::mutex mutex_;
  std::string body_;
  const WebServer web_{[this](const std::string& head, WebServer::Socket& socket) {
    std::string body = body_behind(head, socket);
    {
      const std::lock_guard lock(mutex_);
      body_ = body;
    }
    answer_(head, body, socket);
  }};
};

}  // namespace rkllm_mcp::test
