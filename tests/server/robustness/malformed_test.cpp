// 100,000 wrong messages, of all kinds and over all transports: each is answered by the right error, or by none.
#include "malformed_messages.hpp"
#include "requests.hpp"
#include "steady_server.hpp"
#include "support/catch.hpp"
#include "support/live_server.hpp"

#include <chrono>
#include <cstddef>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace rkllm_mcp::test {
namespace {

using Clock = std::chrono::steady_clock;

// The sanitizers' builds take ten times as long for each.
constexpr int kMessages = RKLLM_MCP_SANITIZED ? 10'000 : 100'000;
constexpr int kRounds = 10;
constexpr std::size_t kLimit = 8 * 1024;
// So much is under way at a time: no more than the kernel holds for a UDP socket.
constexpr int kWindow = 32;
constexpr std::size_t kWindowBytes = 24 * 1024;

// One client that sends what is wrong, and counts what comes back.
class WrongClient {
 public:
  WrongClient(LiveServer& server, Transport transport, MalformedMessages& messages)
      : server_(server), transport_(transport), messages_(messages), connection_(server.connect(transport)) {
    receive_window();  // over TCP and Unix sockets the first message has to look like one
  }

  void send_all(int count) {
    while (count > 0) count -= send_window(count);
  }
  std::size_t answers() const { return answers_; }

 private:
  int send_window(int most) {
    int sent = 0;
    for (std::size_t bytes = 0; sent < std::min(most, kWindow) && bytes < kWindowBytes; ++sent) {
      MalformedMessage message = messages_.next();
      while (transport_ == Transport::kHttp && !message.wrong_over_http) message = messages_.next();
      if (transport_ == Transport::kWebSocket && !message.is_utf8) {
        receive_window();
        check_refusal(message.text);
        return sent + 1;
      }
      connection_->send(message.text);
      bytes += message.text.size();
      if (message.code) expect(message.id, *message.code, message.text);
    }
    receive_window();
    return sent;
  }

  void expect(const std::string& id, int code, const std::string& text) {
    expected_[R"({"jsonrpc":"2.0","id":)" + id + R"(,"error":{"code":)" + std::to_string(code)].push_back(text);
  }

  // Everything expected comes and nothing else, not even before the answer to a good message.
  void receive_window() {
    const std::string last = pong(--ping_);
    connection_->send(ping(ping_));
    for (bool fenced = false; !fenced || !expected_.empty();) {
      const auto text = connection_->receive(Clock::now() + RpcClient::kPatience);
      if (!text) throw std::runtime_error(missing());
      if (*text == last) {
        fenced = true;
        continue;
      }
      ++answers_;
      const auto found = expected_.find(text->substr(0, text->find(R"(,"message")")));
      if (found == expected_.end()) throw std::runtime_error("an answer to nothing: " + *text + "; " + missing());
      found->second.pop_back();
      if (found->second.empty()) expected_.erase(found);
    }
  }

  std::string missing() const {
    if (expected_.empty()) return "no answer came to a ping";
    return "no answer " + expected_.begin()->first + "... came to " + expected_.begin()->second.back();
  }

  // A WebSocket client is not told by a message but by the end of its connection.
  void check_refusal(const std::string& text) {
    connection_->send(text);
    ++answers_;
    try {
      const auto answer = connection_->receive(Clock::now() + RpcClient::kPatience);
      throw std::runtime_error("the connection goes on after " + text + ": " + answer.value_or("silence"));
    } catch (const client::ConnectionError&) {
      connection_ = server_.connect(transport_);
    }
  }

  LiveServer& server_;
  const Transport transport_;
  MalformedMessages& messages_;
  std::unique_ptr<client::Connection> connection_;
  std::map<std::string, std::vector<std::string>> expected_;  // messages by how their answers begin
  std::size_t answers_ = 0;
  int ping_ = 0;
};

}  // namespace

TEST_CASE("100,000 malformed messages over all transports are each answered by the right error, or by none") {
  SteadyServer server({.set = {"limits.max_message_bytes=" + std::to_string(kLimit)}, .with_stdio = true});
  MalformedMessages messages(20'260'101, kLimit);
  std::size_t answers = 0;
  server.endures(kRounds, [&] {
    for (const Transport transport : kAllTransports) {
      INFO(name_of(transport));
      WrongClient client(server.live(), transport, messages);
      REQUIRE_NOTHROW(client.send_all(kMessages / kRounds / static_cast<int>(kAllTransports.size()) + 1));
      answers += client.answers();
    }
  });
  CHECK(answers > kMessages * 4 / 5);  // the others must not be answered
  CHECK(server.live().recorded_runs().size() == 1 + kAllTransports.size());
}

}  // namespace rkllm_mcp::test
