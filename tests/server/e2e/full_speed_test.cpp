// 20,000 tokens as fast as the simulator makes them arrive complete, in order and once, byte for byte what it
// delivered.
#include "arrived_whole.hpp"
#include "support/catch.hpp"
#include "support/http_client.hpp"
#include "support/live_server.hpp"
#include "support/rpc_client.hpp"

#include <exception>
#include <future>
#include <string>
#include <vector>

namespace rkllm_mcp::test {
namespace {

constexpr std::uint64_t kTokens = 20'000;
constexpr int kClients = 8;

std::string prompt_number(int number) {
  return "@n=" + std::to_string(kTokens) + " @seed=" + std::to_string(number) + " Go on.";
}

// One client's whole life; "" or what went wrong.
std::string generate_and_compare(LiveServer& server, Transport transport, const std::string& handle, int number) {
  const std::string prompt = prompt_number(number);
  try {
    RpcClient client(server.connect(transport), 1000 * number);
    const int id = client.run_async(handle, prompt);
    return difference(server, client.stream(id), prompt, kTokens);
  } catch (const std::exception& error) {
    return error.what();
  }
}

std::vector<std::string> init_handles(LiveServer& server, int count) {
  RpcClient client(server.connect(Transport::kTcp));
  std::vector<std::string> handles;
  for (int i = 0; i < count; ++i) handles.push_back(client.init(shipped_model("fast")));
  return handles;
}

void check_clients(LiveServer& server, const std::vector<Transport>& transports) {
  const auto handles = init_handles(server, static_cast<int>(transports.size()));
  std::vector<std::future<std::string>> clients;
  for (std::size_t i = 0; i < transports.size(); ++i) {
    clients.push_back(std::async(std::launch::async, [&server, transport = transports[i], handle = handles[i], i] {
      return generate_and_compare(server, transport, handle, static_cast<int>(i) + 1);
    }));
  }
  for (std::size_t i = 0; i < clients.size(); ++i) {
    INFO("client " << i << " over " << name_of(transports[i]));
    CHECK(clients[i].get() == "");
  }
}

}  // namespace

TEST_CASE("20,000 tokens at full speed arrive whole on every transport") {
  LiveServer server(LiveServer::with_stdio());
  RpcClient(server.connect(Transport::kTcp)).init(shipped_model("fast"));
  int number = 0;
  for (const Transport transport : kAllTransports) {
    INFO(name_of(transport));
    CHECK(generate_and_compare(server, transport, "llm-1", ++number) == "");
  }
}

TEST_CASE("eight clients at once on eight handles get 20,000 tokens each over TCP") {
  LiveServer server;
  check_clients(server, std::vector<Transport>(kClients, Transport::kTcp));
}

TEST_CASE("eight clients at once on eight handles get 20,000 tokens each over UDP") {
  LiveServer server;
  check_clients(server, std::vector<Transport>(kClients, Transport::kUdp));
}

TEST_CASE("eight clients at once on eight handles get 20,000 tokens each over HTTP polls") {
  LiveServer server;
  check_clients(server, std::vector<Transport>(kClients, Transport::kHttp));
}

TEST_CASE("eight clients at once on eight handles get 20,000 tokens each over WebSocket") {
  LiveServer server;
  check_clients(server, std::vector<Transport>(kClients, Transport::kWebSocket));
}

TEST_CASE("eight clients at once, on all transports, get 20,000 tokens each") {
  using enum Transport;
  LiveServer server(LiveServer::with_stdio());
  check_clients(server, {kStdio, kTcp, kUdp, kHttp, kWebSocket, kTcp, kHttp, kWebSocket});
}

TEST_CASE("eight streams at once on one standard output arrive whole") {
  LiveServer server(LiveServer::with_stdio());
  const auto handles = init_handles(server, kClients);
  RpcClient client(server.connect(Transport::kStdio));
  std::vector<StreamCheck> streams;
  for (int i = 0; i < kClients; ++i) {
    streams.emplace_back(client.run_async(handles[static_cast<std::size_t>(i)], prompt_number(i)), "rkllm_run_async");
  }
  const auto all_ended = [&] {
    return std::all_of(streams.begin(), streams.end(), [](const StreamCheck& stream) { return stream.ended(); });
  };
  while (!all_ended()) {
    const Json message = client.receive_or_throw();
    REQUIRE(std::any_of(streams.begin(), streams.end(), [&](StreamCheck& stream) { return stream.take(message); }));
  }
  for (int i = 0; i < kClients; ++i) {
    CHECK(difference(server, streams[static_cast<std::size_t>(i)], prompt_number(i), kTokens) == "");
  }
}

TEST_CASE("every datagram of a stream that got lost is sent again when asked for") {
  LiveServer server;
  RpcClient client(server.connect(Transport::kUdp));
  client.init(shipped_model("fast"));
  // A chunk for each token, so that there are many. The client throws every third away, and asks when nothing comes.
  const std::string prompt = "@n=300 Go on.";
  Json params = run_params("llm-1", prompt);
  params["include"] = {"token_id"};
  const int id = client.send("rkllm_run_async", params);
  StreamCheck stream(id, "rkllm_run_async", StreamCheck::Delivery::kLossy);
  int datagrams = 0;
  int asked = 0;
  while (!stream.ended()) {
    if (const auto message = client.receive(std::chrono::milliseconds(20))) {
      if (++datagrams % 3 != 0) stream.take(*message);
      continue;
    }
    REQUIRE(++asked < 1000);
    const Json poll{{"jsonrpc", "2.0"}, {"id", id}, {"method", "poll"}, {"params", {{"from_seq", stream.missing()}}}};
    client.send_text(poll.dump());
  }
  CHECK(asked > 0);
  CHECK(stream.token_ids().size() == 300);
  CHECK(difference(server, stream, prompt, 300) == "");
}

TEST_CASE("a polled stream carries every token id when asked to") {
  LiveServer server;
  RpcClient client(server.connect(Transport::kHttp));
  client.init(shipped_model("fast"));
  const std::string prompt = "@n=20000 Go on.";
  Json params = run_params("llm-1", prompt);
  params["include"] = {"token_id"};
  const StreamCheck stream = client.stream(client.send("rkllm_run_async", params));
  CHECK(difference(server, stream, prompt, kTokens) == "");
  CHECK(stream.token_ids().size() == kTokens);
}

}  // namespace rkllm_mcp::test
