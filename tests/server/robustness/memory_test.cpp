// Clients that want more memory than there is: what does not fit is refused, and everybody else is served.
#include "requests.hpp"
#include "support/catch.hpp"
#include "support/client_frames.hpp"
#include "support/live_server.hpp"
#include "support/raw_socket.hpp"
#include "support/raw_websocket.hpp"
#include "support/rpc_client.hpp"

#include <rkllm_mcp/json.hpp>

#include <signal.h>
#include <sys/resource.h>

#include <chrono>
#include <cstddef>
#include <fstream>
#include <list>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace rkllm_mcp::test {
namespace {

constexpr std::size_t kMiB = std::size_t{1} << 20U;
constexpr std::size_t kLong = 7 * kMiB;
constexpr const char* kUsedUp = "\"code\":4004";

std::string ones(std::size_t bytes) {
  std::string ids = "1,1,";
  ids.reserve(2 * bytes);
  while (ids.size() < bytes) ids += ids;  // test code is not optimised
  ids.resize(bytes - bytes % 2);
  return ids + "1";
}

std::string tokens(std::size_t bytes) {
  return R"({"rkllm_input":{"input_type":"RKLLM_INPUT_TOKEN","token_input":{"input_ids":[)" + ones(bytes) + "]}}}";
}

std::string long_run(int id) {
  return R"({"jsonrpc":"2.0","id":)" + std::to_string(id) + R"(,"method":"rkllm_run","params":)" + tokens(kLong) + "}";
}

std::string half_a_line() {
  const std::string whole = long_run(7);
  return whole.substr(0, whole.size() - 8);
}

// The first of them that is told something, and what, at least up to `mark`.
std::pair<RawSocket*, std::string> first_told(const std::vector<std::unique_ptr<RawSocket>>& sockets,
                                              std::string_view mark) {
  const auto deadline = std::chrono::steady_clock::now() + RawSocket::kPatience;
  while (std::chrono::steady_clock::now() < deadline) {
    for (const auto& socket : sockets) {
      std::string told = socket->receive_available();
      if (told.empty()) continue;
      while (told.find(mark) == std::string::npos) told += socket->receive(1);
      return {socket.get(), std::move(told)};
    }
  }
  throw std::runtime_error("nobody is told anything");
}

// A client that is refused in the middle may be cut off before it has sent all.
void send_what_is_taken(RawSocket& socket, const std::string& bytes) {
  try {
    socket.send(bytes);
  } catch (const std::exception&) {
    // It was refused; what it was told can still be read.
  }
}

[[maybe_unused]] std::size_t virtual_bytes(pid_t process) {
  std::ifstream file("/proc/" + std::to_string(process) + "/statm");
  std::size_t pages = 0;
  file >> pages;
  return pages * 4096;
}

}  // namespace

TEST_CASE(
    "long requests that wait for their model take limits.memory_bytes together, and what does not fit gets 4004") {
  LiveServer server({.set = {"limits.memory_bytes=33554432"}});
  RpcClient busy(server.connect(Transport::kTcp));
  const std::string handle = busy.init(server.paced_model(20));
  const int endless = busy.run_async(handle, kEndless);
  StreamCheck stream = busy.watch(endless);
  busy.read_stream(stream, [&] { return stream.chunks() > 0; });

  std::list<RpcClient> crowd;
  std::size_t refused = 0;
  for (int id = 1; id <= 8; ++id) {
    crowd.emplace_back(server.connect(Transport::kTcp));
    crowd.back().send_text(long_run(id));
    crowd.back().send_text(ping(100 + id));  // answered as soon as the run has been queued, or refused
    const Json first = crowd.back().receive_or_throw();
    if (first["id"] == 100 + id) continue;
    ++refused;
    CHECK(first["id"] == id);
    CHECK(first["error"]["code"] == 4004);
    CHECK(first["error"]["data"]["setting"] == "limits.memory_bytes");
  }
  CHECK(refused >= 4);
  CHECK(refused <= 5);
  CHECK(server.health()["status"] == "healthy");
  crowd.clear();  // whose places are free again
  busy.call("rkllm_abort");
  busy.call("rkllm_clear_kv_cache", Json{{"keep_system_prompt", 1}});  // behind all that waited
  RpcClient later(server.connect(Transport::kTcp));
  later.send_text(long_run(9));
  CHECK(later.answer(9)["error"]["code"] != 4004);
}

// How much a part of a message takes depends on the pieces in which it arrives, so that nobody can say which of the
// clients is refused: of each transport there are as many as do not fit whatever the others hold.
TEST_CASE("unfinished messages take limits.memory_bytes together, on every transport") {
  LiveServer server({.set = {"limits.memory_bytes=33554432"}});
  std::vector<std::unique_ptr<RawSocket>> lines;
  for (int i = 0; i < 5; ++i) {
    lines.push_back(std::make_unique<RawSocket>(server.port(Transport::kTcp)));
    lines.back()->send(half_a_line());
  }
  const auto [line, answer] = first_told(lines, "\n");
  CHECK(answer.find(kUsedUp) != std::string::npos);
  CHECK(answer.find("\"id\":7") != std::string::npos);
  line->send("\n" + ping(8) + "\n");  // the rest of it was skipped
  CHECK_NOTHROW(line->receive_until(pong(8)));

  std::vector<std::unique_ptr<RawSocket>> bodies;
  for (int i = 0; i < 10; ++i) {
    bodies.push_back(std::make_unique<RawSocket>(server.port(Transport::kHttp)));
    send_what_is_taken(*bodies.back(), http_post(long_run(1)).substr(0, kLong / 2));
  }
  CHECK(first_told(bodies, "\n").second.find("503") != std::string::npos);

  const auto endpoint = server.endpoint(Transport::kWebSocket);
  std::vector<std::unique_ptr<RawSocket>> fragments;
  for (int i = 0; i < 5; ++i) {
    fragments.push_back(std::make_unique<RawSocket>(endpoint.port));
    open_websocket(*fragments.back(), endpoint);
    fragments.back()->send(client_frame(kText, half_a_line()));
  }
  CHECK_NOTHROW(first_told(fragments, kUsedUp));

  lines.clear();
  bodies.clear();
  fragments.clear();
  RpcClient later(server.connect(Transport::kTcp));
  Json answered;
  do {  // until the server has seen that they have gone
    later.send_text(long_run(9));
    answered = later.answer(9);
  } while (answered["error"]["code"] == 4004);
  CHECK(answered["error"]["code"] == 4002);  // no model is loaded
}

TEST_CASE("a line that does not come to its end within limits.message_timeout_s ends its connection") {
  LiveServer server({.set = {"limits.message_timeout_s=1"}});
  RawSocket slow(server.port(Transport::kTcp));
  slow.send(ping(1) + "\n" + R"({"jsonrpc":"2.0","id":2,)");
  slow.receive_until(pong(1));
  CHECK(slow.receive_rest().find("limits.message_timeout_s") != std::string::npos);
}

TEST_CASE("a WebSocket message that does not come to its end in time ends its connection, whatever comes between") {
  LiveServer server({.set = {"limits.message_timeout_s=1"}});
  const auto endpoint = server.endpoint(Transport::kWebSocket);
  RawSocket slow(endpoint.port);
  open_websocket(slow, endpoint);
  slow.send(text_frame(ping(1)) + client_frame(kText, R"({"jsonrpc":)"));
  CHECK(receive_frame(slow) == pong(1));
  const auto give_up = std::chrono::steady_clock::now() + RawSocket::kPatience;
  std::string told;
  while (told.empty() && std::chrono::steady_clock::now() < give_up) {
    slow.send(client_frame(kContinuation, " ") + client_frame(kFinal | kPing, "alive"));
    const std::string frame = receive_frame(slow);
    if (frame != "alive") told = frame;
  }
  CHECK(told.find("limits.message_timeout_s") != std::string::npos);
  CHECK(slow.receive_rest().find(close_payload(1008)) != std::string::npos);
}

#if !RKLLM_MCP_SANITIZED
// A connection may be what there is no memory for.
bool answers_in_the_end(LiveServer& server) {
  const auto deadline = std::chrono::steady_clock::now() + RpcClient::kPatience;
  while (std::chrono::steady_clock::now() < deadline) {
    try {
      RpcClient client(server.connect(Transport::kTcp));
      if (client.call("ping").contains("result")) return true;
    } catch (const std::exception&) {
      // It was refused, and cut off.
    }
  }
  return false;
}

TEST_CASE("where the system gives no more memory, requests end and not the process") {
  std::size_t at_start = 0;
  {
    LiveServer server;
    at_start = virtual_bytes(server.process().pid());
  }
  const std::string limit = std::to_string((at_start + 256 * kMiB) / 1024);
  LiveServer server({.set = {"limits.memory_bytes=1073741824"},
                     .launcher = {"/bin/sh", "-c", "ulimit -v " + limit + "; exec \"$0\" \"$@\""}});
  std::vector<std::unique_ptr<RawSocket>> crowd;
  for (int i = 0; i < 60; ++i) {
    crowd.push_back(std::make_unique<RawSocket>(server.port(Transport::kTcp)));
    send_what_is_taken(*crowd.back(), half_a_line().substr(0, 5 * kMiB));  // all of them are more than there is
  }
  CHECK(answers_in_the_end(server));
  crowd.clear();
  const bool answers_again = answers_in_the_end(server);
  server.process().signal(SIGTERM);
  CHECK(server.process().wait() == 0);  // then all of its log is here
  INFO(server.process().error_text());
  CHECK(answers_again);
  CHECK_THAT(server.process().error_text(), !has_text("a callback of the event loop took"));
}

TEST_CASE(
    "a long row of numbers where none belongs costs its request and not the process, however little memory is left") {
  const std::string row =
      R"({"jsonrpc":"2.0","id":7,"method":"rkllm_run","params":{"rkllm_input":{"input_type":"RKLLM_INPUT_TOKEN",)"
      R"("token_input":[)" +
      ones(kLong) + "]}}}";
  for (const std::size_t margin : {40 * kMiB, 100 * kMiB}) {
    INFO(margin);
    LiveServer server;
    RpcClient client(server.connect(Transport::kTcp));
    client.init(shipped_model("fast"));
    const rlimit little{virtual_bytes(server.process().pid()) + margin, RLIM_INFINITY};
    REQUIRE(::prlimit(server.process().pid(), RLIMIT_AS, &little, nullptr) == 0);
    client.send_text(row);
    CHECK(client.receive_or_throw().contains("error"));
    CHECK(client.call("ping").contains("result"));
  }
}

TEST_CASE("a server that gets no memory even for its ending ends") {
  LiveServer server;
  const rlimit none{virtual_bytes(server.process().pid()), RLIM_INFINITY};
  REQUIRE(::prlimit(server.process().pid(), RLIMIT_AS, &none, nullptr) == 0);
  server.process().signal(SIGTERM);
  CHECK(server.process().wait() == 0);
}
#endif

}  // namespace rkllm_mcp::test
