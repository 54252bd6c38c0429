// Over a network that loses, doubles and reorders datagrams, both ways, everything is done once and arrives whole.
#include "arrived_whole.hpp"
#include "support/catch.hpp"
#include "support/live_server.hpp"
#include "support/lossy_proxy.hpp"
#include "support/paths.hpp"
#include "support/process.hpp"
#include "support/rpc_client.hpp"

#include <memory>
#include <string>

namespace rkllm_mcp::test {
namespace {

constexpr std::uint64_t kStreamTokens = 3000;

client::Endpoint endpoint_of(const LossyProxy& proxy) {
  return {client::Protocol::kUdp, "127.0.0.1", proxy.port(), ""};
}

RpcClient client_of(const LossyProxy& proxy) {
  return RpcClient(client::connect(endpoint_of(proxy), std::chrono::steady_clock::now() + Process::kPatience));
}

std::string prompt_of(unsigned seed, std::uint64_t tokens = kStreamTokens) {
  return "@n=" + std::to_string(tokens) + " @seed=" + std::to_string(seed) + " Go on.";
}

void check_was_bad(const LossyProxy::Counts& counts) {
  CHECK(counts.lost > 0);
  CHECK(counts.doubled > 0);
  CHECK(counts.late > 0);
}

// One client's whole life: a model is loaded, generates, and is unloaded.
void check_seed(LiveServer& server, const std::string& model, unsigned seed, std::uint64_t tokens = kStreamTokens) {
  INFO("seed " << seed);
  const LossyProxy proxy(server.port(Transport::kUdp), seed);
  RpcClient client = client_of(proxy);
  // Loaded once, however often the request arrives: the next one has the next number.
  const std::string handle = client.init(model);
  CHECK(handle == "llm-" + std::to_string(seed));
  Json params = run_params(handle, prompt_of(seed, tokens));
  params["include"] = {"token_id"};  // a chunk for each token, so that there are many
  const StreamCheck stream = client.stream(client.send("rkllm_run_async", params));
  CHECK(difference(server, stream, prompt_of(seed, tokens), tokens) == "");  // of the only run with that prompt
  CHECK(stream.chunks() == tokens + 1);
  // Executed twice, it would say that there is no such handle.
  CHECK(client.result("rkllm_destroy", {{"handle", handle}})["status"] == 0);
  CHECK(proxy.to_client().longest <= 1200);
  check_was_bad(proxy.to_client());
}

}  // namespace

TEST_CASE("over a network that loses, doubles and reorders, streams arrive whole and nothing is done twice") {
  LiveServer::Options options;
  options.set = {"udp.retained_chunks=8192"};  // at full speed 1,024 are gone before a client can ask
  LiveServer server(options);
  for (unsigned seed = 1; seed <= 6; ++seed) check_seed(server, shipped_model("fast"), seed);
  CHECK(server.recorded_runs().size() == 6);
}

TEST_CASE("whatever got lost of the 1,024 chunks that are retained by default is recovered") {
  LiveServer server;
  check_seed(server, shipped_model("fast"), 1, 1000);
  CHECK(server.recorded_runs().size() == 1);
}

TEST_CASE("requests that are answered once are executed once over a network that loses and doubles") {
  LiveServer server;
  const LossyProxy proxy(server.port(Transport::kUdp), 99, {.lost = 25, .doubled = 25, .late = 0});
  RpcClient client = client_of(proxy);
  const std::string handle = client.init(shipped_model("fast"));
  for (int i = 0; i < 20; ++i) {
    const std::string prompt = "@n=20 @seed=" + std::to_string(i);
    const Json text = client.result("rkllm_run", run_params(handle, prompt))["text"];
    CHECK(text == run_of(server, prompt).text);
  }
  CHECK(server.recorded_runs().size() == 20);
  CHECK(proxy.to_server().lost > 0);
  CHECK(proxy.to_client().lost > 0);
}

TEST_CASE("the command line prints a stream whole over a network that loses, doubles and reorders") {
  LiveServer server({.set = {"udp.retained_chunks=8192"}});  // enough for the slowest machine
  RpcClient(server.connect(Transport::kTcp)).init(server.paced_model(2000));
  for (unsigned seed = 1; seed <= 3; ++seed) {
    INFO("seed " << seed);
    const LossyProxy proxy(server.port(Transport::kUdp), seed);
    const Json params = run_params("llm-1", prompt_of(seed));
    Process::Options command;
    const std::string to = "udp://" + endpoint_of(proxy).authority();
    command.args = {kProgram, "call", "--text", "--to", to, "rkllm_run_async", params.dump()};
    const auto finished = run_to_end(command);
    INFO(finished.err);
    CHECK(finished.status == 0);
    CHECK(finished.out == run_of(server, prompt_of(seed)).text + "\n");
    check_was_bad(proxy.to_client());
  }
}

}  // namespace rkllm_mcp::test
