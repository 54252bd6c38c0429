// Clients that leave in the middle of their streams, in random ways and at random moments: what they had seen is what
// was generated, and the runs of those who are gone stop.
#include "load/ledger.hpp"
#include "requests.hpp"
#include "steady_server.hpp"
#include "support/catch.hpp"
#include "support/client_frames.hpp"
#include "support/live_server.hpp"
#include "support/raw_socket.hpp"
#include "support/raw_websocket.hpp"
#include "support/rpc_client.hpp"

#include <array>
#include <cstddef>
#include <list>
#include <memory>
#include <random>
#include <string>
#include <utility>

namespace rkllm_mcp::test {
namespace {

constexpr unsigned kSeed = 7;
constexpr int kLeavers = 60;  // in each round
constexpr std::size_t kAtOnce = 6;
constexpr int kLeavingRounds = 6;
constexpr int kFirstOfPolls = 100'000;  // clients of plain HTTP share a session, and with it their ids

constexpr std::array kLeaveable{Transport::kTcp, Transport::kUnix, Transport::kUdp, Transport::kWebSocket};

// A client with an endless run.
struct Leaver {
  std::unique_ptr<RpcClient> client;
  std::string prompt;
  StreamCheck stream;
};

class Crowd {
 public:
  Crowd(LiveServer& server, std::string handle) : server_(server), handle_(std::move(handle)), random_(kSeed) {}

  void come_and_go() {
    for (int i = 0; i < kLeavers; ++i) {
      come(kLeaveable[random_() % kLeaveable.size()]);
      if (present_.size() == kAtOnce) go();
    }
    while (!present_.empty()) go();
    reset_in_the_middle();
    come(Transport::kHttp);  // last, since what is polled outlives its client by stream.poll_timeout_s
    go();
  }

  Verdict verdict() const { return ledger_.verdict(server_.recorded_runs()); }

 private:
  std::string new_prompt() { return kEndless + " leaver " + std::to_string(++number_); }

  void come(Transport transport) {
    auto client = std::make_unique<RpcClient>(server_.connect(transport), kFirstOfPolls + number_);
    std::string prompt = new_prompt();
    const int id = client->run_async(handle_, prompt);
    client->call("ping");  // once this is answered, the run has its place in the queue
    StreamCheck stream = client->watch(id);
    present_.push_back({std::move(client), std::move(prompt), std::move(stream)});
  }

  // Somebody leaves: the first one, in the middle of his run, or one who still waits for his.
  void go() {
    const auto leaver = std::next(present_.begin(), static_cast<std::ptrdiff_t>(random_() % present_.size()));
    if (leaver == present_.begin()) {
      const std::size_t wanted = random_() % 30;
      leaver->client->read_stream(leaver->stream, [&] { return leaver->stream.chunks() >= wanted; });
    }
    ledger_.note({leaver->prompt, leaver->stream.text(), Ending::kCut});
    present_.erase(leaver);
  }

  // The same without any leave-taking, and of Server-Sent Events.
  void reset_in_the_middle() {
    const std::string request = run_async(1, new_prompt());
    const auto run_on = [&](Transport transport, const std::string& bytes) {
      RawSocket client(server_.port(transport));
      client.send(bytes);
      client.receive_until(R"("seq":)" + std::to_string(random_() % 10));
      client.reset();
    };
    run_on(Transport::kTcp, request + "\n");
    run_on(Transport::kWebSocket, std::string(kHandshake) + text_frame(request));
    run_on(Transport::kHttp,
           "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
           "Accept: application/json, text/event-stream\r\nContent-Length: " +
               std::to_string(request.size()) + "\r\n\r\n" + request);
  }

  LiveServer& server_;
  const std::string handle_;
  std::mt19937 random_;
  int number_ = 0;
  std::list<Leaver> present_;
  Ledger ledger_;
};

}  // namespace

TEST_CASE("clients that leave their streams at random leave no runs, and saw nothing but what was generated") {
  // Who waits for his run over UDP says nothing, and must not be forgotten for it where the machine is slow.
  SteadyServer server({.set = {"stream.poll_timeout_s=1", "udp.idle_s=10"}, .with_stdio = true});
  Crowd crowd(server.live(), server.load(server.live().paced_model(1000)));
  server.endures(kLeavingRounds, [&] {
    crowd.come_and_go();
    // Waits for the last of the runs.
    RpcClient client(server.live().connect(Transport::kTcp));
    REQUIRE(client.result("rkllm_get_kv_cache_size", {{"handle", "llm-2"}}).contains("cache_sizes"));
  });
  const Verdict verdict = crowd.verdict();
  for (const auto& complaint : verdict.complaints) UNSCOPED_INFO(complaint);
  CHECK(verdict.streams == (kLeavers + 1) * (kLeavingRounds + 1));
  CHECK(verdict.mixed == 0);
  CHECK(verdict.duplicated == 0);
  for (const RecordedRun& ran : server.live().recorded_runs()) {
    CHECK((ran.aborted || ran.prompt.find("leaver") == std::string::npos));
  }
}

}  // namespace rkllm_mcp::test
