// JSON-RPC over any connection: numbered requests, parsed messages, whole streams. Blocking; one thread.
//
// On a connection that may lose messages a request that is not answered is sent again, and so is what is missing of a
// stream asked for.
//
// Whatever is not as the protocol has it is thrown as std::runtime_error with the message that was wrong, so that it
// can be used on threads of a test, where Catch's own checks cannot.
#pragma once

#include "client/connection.hpp"
#include "support/stream_check.hpp"

#include <rkllm_mcp/json.hpp>

#include <chrono>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>

namespace rkllm_mcp::test {

class RpcClient {
 public:
  using Duration = std::chrono::milliseconds;
  static constexpr Duration kPatience{60'000};

  // Its requests count from `first_id`. Clients of plain HTTP share one session: their streams need ids of their own.
  explicit RpcClient(std::unique_ptr<client::Connection> connection, int first_id = 1)
      : connection_(std::move(connection)), next_id_(first_id) {}

  // Sends a request and gives its id.
  int send(std::string_view method, Json params = Json::object());
  void send_text(std::string_view message) { connection_->send(message); }
  // The next message; nothing when the time is over.
  std::optional<Json> receive(Duration patience = kPatience);
  Json receive_or_throw(Duration patience = kPatience);

  // The whole reply to a request. Messages that come before it are kept for receive().
  Json call(std::string_view method, Json params = Json::object());
  Json answer(const Json& id);
  // Its result; an error is thrown.
  Json result(std::string_view method, Json params = Json::object());

  // MCP's handshake in this revision, without a word of what the client can do.
  Json initialize(std::string_view revision = "2025-11-25");
  // rkllm_init; gives the handle.
  std::string init(const std::string& model, Json param = Json::object());
  // Starts rkllm_run_async with a prompt; gives the request's id.
  int run_async(const std::string& handle, const std::string& prompt);

  // What read_stream() takes for a stream on this connection.
  StreamCheck watch(const Json& id, std::string_view method = "rkllm_run_async") const;
  // Reads a stream of chunks to its end. On a lossy connection what is missing is asked for again.
  StreamCheck stream(const Json& id, std::string_view method = "rkllm_run_async");
  // Reads it until `enough` says so.
  void read_stream(StreamCheck& stream, const std::function<bool()>& enough);

 private:
  void send_again(const Json& id);
  // Whether it is of a stream that has ended: a chunk that was asked for again, and has come in the meantime.
  bool is_late(const Json& message) const;

  std::unique_ptr<client::Connection> connection_;
  std::deque<Json> kept_;
  std::map<Json, std::string> unanswered_;  // requests by id, as they were sent
  std::set<Json> ended_;                    // ids of streams whose end has come, on a lossy connection
  int next_id_;
};

Json run_params(const std::string& handle, const std::string& prompt);

}  // namespace rkllm_mcp::test
