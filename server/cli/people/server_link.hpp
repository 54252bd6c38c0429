// The running server over HTTP, for the commands that people use: asks it one thing after the other.
#pragma once

#include "cli/command_line.hpp"
#include "client/endpoint.hpp"
#include "client/http/http_round_trip.hpp"

#include <rkllm_mcp/json.hpp>

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>

namespace rkllm_mcp {

// The server has answered with an error; what() is its message.
class ServerRefuses : public std::runtime_error {
 public:
  ServerRefuses(int status, const std::string& message, int code = 0)
      : std::runtime_error(message), status_(status), code_(code) {}
  int status() const { return status_; }  // of HTTP
  int code() const { return code_; }      // of JSON-RPC; 0: it was no call

 private:
  int status_;
  int code_;
};

class ServerLink {
 public:
  // What --to names, else the HTTP port of the settings. Nothing is connected yet, unless --to names another port:
  // its server is asked for the right one, for the complaint. Throws std::invalid_argument, SettingsRefused.
  ServerLink(const RemoteOptions& options, const SettingsRequest& request);

  std::string url() const { return endpoint_.url(); }
  const client::Endpoint& place() const { return endpoint_; }
  const Settings& settings() const { return settings_; }  // of this machine
  bool is_of_settings() const;                            // whether --to names no other server
  // The ends of commands that are proposed to a person: where() makes a command ask the same server, see where_of();
  // settings_options() makes it read the same settings, see as_options().
  const std::string& where() const { return where_; }
  const std::string& settings_options() const { return settings_options_; }

  // These throw client::Unreachable, client::ConnectionError, ServerRefuses.
  Json get(const std::string& path);
  Json health();  // GET /health; ServerRefuses if the server tells it only to those with an access token
  Json call(const std::string& method, const Json& params);  // JSON-RPC
  Json resource(const std::string& uri);                     // what an MCP resource has, which is JSON
  // Sends a body; null where the answer has none.
  Json send(const std::string& method, const std::string& path, const Json& body);
  // POSTs `body` and hands over each server-sent event's data until the answer ends; false if `is_stopped` has ended
  // it. `is_stopped` is asked from another thread, several times a second.
  bool stream(const std::string& path, const Json& body, const std::function<void(const std::string& data)>& on_data,
              const std::function<bool()>& is_stopped);
  // Does what stream() does with an answer that is lines: `on_line` gets each.
  bool lines(const std::string& path, const Json& body, const std::function<void(const std::string& line)>& on_line,
             const std::function<bool()>& is_stopped);

 private:
  struct Answer {
    int status;
    std::string body;
  };
  Answer ask(const client::HttpRequest& request);
  bool post(const std::string& path, const Json& body, const char* accepted,
            const std::function<void(std::string_view bytes)>& on_bytes, const std::function<bool()>& is_stopped);
  [[noreturn]] void complain(client::HttpRoundTrip::End end, const client::HttpRoundTrip& trip) const;

  Settings settings_;
  client::Endpoint endpoint_;
  std::string where_;
  std::string settings_options_;
};

}  // namespace rkllm_mcp
