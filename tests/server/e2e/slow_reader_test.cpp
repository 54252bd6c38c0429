// A client that does not read slows nobody, costs bounded memory, and is closed in the end.
#include "arrived_whole.hpp"
#include "support/catch.hpp"
#include "support/live_server.hpp"
#include "support/raw_socket.hpp"
#include "support/rpc_client.hpp"

#include <string>

namespace rkllm_mcp::test {
namespace {

constexpr std::size_t kAllowedGrowth = std::size_t{24} << 20U;

constexpr int kSmallReceiveBuffer = 4096;

std::string run_line(int id, const std::string& handle, const std::string& prompt) {
  return Json{{"jsonrpc", "2.0"}, {"id", id}, {"method", "rkllm_run_async"}, {"params", run_params(handle, prompt)}}
             .dump() +
         "\n";
}

LiveServer::Options impatient() {
  LiveServer::Options options;
  // Not less: a client that reads, but slowly, takes nothing for a second while it empties what the kernel holds for
  // it.
  options.set = {"limits.stall_s=3"};
  return options;
}

}  // namespace

TEST_CASE("a client that stops reading does not slow another, and is closed") {
  LiveServer server(impatient());
  RpcClient other(server.connect(Transport::kTcp));
  other.init(shipped_model("fast"));
  other.init(shipped_model("fast"));

  // Many times more than all buffers on the way hold: its run can never end by itself.
  RawSocket stalled(server.port(Transport::kTcp), kSmallReceiveBuffer);
  stalled.send(run_line(1, "llm-1", "@n=2000000 @seed=1"));
  stalled.receive_until("\n");
  const std::size_t before = server.peak_resident_bytes();

  const std::string prompt = "@n=20000 @seed=2";
  const auto stream = other.stream(other.run_async("llm-2", prompt));
  CHECK(difference(server, stream, prompt, 20'000) == "");

  // It is closed, and that stops its run: what waits for its handle has its turn.
  REQUIRE(other.result("rkllm_get_kv_cache_size", {{"handle", "llm-1"}}).contains("cache_sizes"));
  CHECK(server.peak_resident_bytes() < before + kAllowedGrowth);
  // Seen from the server: what the kernel holds for the client may still trickle to it.
  CHECK(server.health()["transports"]["tcp"]["connections"] == 1);
  CHECK(run_of(server, "@n=2000000 @seed=1").aborted);
  CHECK(other.call("ping").contains("result"));
}

TEST_CASE("a client that reads 20,000 tokens late gets them all") {
  LiveServer server;
  RpcClient other(server.connect(Transport::kTcp));
  other.init(shipped_model("fast"));
  const std::string prompt = "@n=20000 @seed=3";
  RpcClient late(server.connect(Transport::kTcp));
  StreamCheck stream(late.run_async("llm-1", prompt), "rkllm_run_async");
  late.read_stream(stream, [&stream] { return stream.chunks() > 0; });
  // Its run ends although nobody reads: what the kernel and the send queue cannot hold has joined meanwhile.
  REQUIRE(other.result("rkllm_get_kv_cache_size").contains("cache_sizes"));
  REQUIRE(server.recorded_runs().size() == 1);
  late.read_stream(stream, [&stream] { return stream.ended(); });
  CHECK(difference(server, stream, prompt, 20'000) == "");
}

TEST_CASE("a WebSocket client that stops reading is closed, and its run stops") {
  LiveServer::Options options = impatient();
  options.set.emplace_back("limits.send_queue_bytes=4096");
  LiveServer server(options);
  RpcClient other(server.connect(Transport::kTcp));
  other.init(shipped_model("fast"));
  {
    RpcClient stalled(server.connect(Transport::kWebSocket));
    stalled.run_async("llm-1", "@n=20000000");
    stalled.receive_or_throw();
    REQUIRE(other.result("rkllm_get_kv_cache_size").contains("cache_sizes"));
  }
  CHECK(run_of(server, "@n=20000000").aborted);
}

}  // namespace rkllm_mcp::test
