// Requests as texts, for tests that send bytes.
#pragma once

#include "support/rpc_client.hpp"

#include <string>
#include <string_view>

namespace rkllm_mcp::test {

inline std::string ping(int id) { return R"({"jsonrpc":"2.0","id":)" + std::to_string(id) + R"(,"method":"ping"})"; }
inline std::string pong(int id) { return R"({"jsonrpc":"2.0","id":)" + std::to_string(id) + R"(,"result":{}})"; }

inline std::string run_async(int id, const std::string& prompt) {
  return Json{{"jsonrpc", "2.0"}, {"id", id}, {"method", "rkllm_run_async"}, {"params", run_params("llm-1", prompt)}}
      .dump();
}

// A request that leaves a trace: the simulator writes down that it ran.
inline std::string run(const std::string& prompt) {
  return Json{{"jsonrpc", "2.0"}, {"id", 1}, {"method", "rkllm_run"}, {"params", run_params("llm-1", prompt)}}.dump();
}

inline constexpr std::string_view kPost = "POST /jsonrpc HTTP/1.1\r\nHost: localhost\r\n";

inline constexpr std::string_view kHandshake =
    "GET / HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
    "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n";

inline std::string http_post(const std::string& body) {
  return std::string(kPost) + "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
}

}  // namespace rkllm_mcp::test
