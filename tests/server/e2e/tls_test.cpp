// The real server with TLS on TCP, HTTP and WebSocket: seen by OpenSSL, curl and, through a tunnel that verifies the
// certificate, by the clients that see it without TLS elsewhere.
#include "arrived_whole.hpp"
#include "support/catch.hpp"
#include "support/certificate.hpp"
#include "support/live_server.hpp"
#include "support/paths.hpp"
#include "support/raw_socket.hpp"
#include "support/rpc_client.hpp"
#include "support/tls_socket.hpp"
#include "support/tls_tunnel.hpp"

#include <signal.h>
#include <sys/stat.h>

#include <array>
#include <chrono>
#include <future>
#include <memory>
#include <string>
#include <vector>

namespace rkllm_mcp::test {
namespace {

constexpr std::array kEncrypted{Transport::kTcp, Transport::kHttp, Transport::kWebSocket};
constexpr int kSmallWindow = 4096;

// A server whose TCP, HTTP and WebSocket speak TLS, with its certificate.
class TlsServer {
 public:
  explicit TlsServer(std::vector<std::string> set = {})
      : files_(make_certificate(directory_.path())), server_(options(files_, std::move(set))) {
    for (const Transport transport : kEncrypted) {
      tunnels_.push_back(std::make_unique<TlsTunnel>(server_.port(transport), files_.certificate));
    }
  }

  LiveServer& operator*() { return server_; }
  LiveServer* operator->() { return &server_; }
  const CertificateFiles& files() const { return files_; }
  std::string directory() const { return directory_.path(); }

  // For the clients that know no TLS themselves.
  std::unique_ptr<Connection> connect(Transport transport) {
    auto endpoint = server_.endpoint(transport);
    for (std::size_t at = 0; at < kEncrypted.size(); ++at) {
      if (kEncrypted[at] == transport) endpoint.port = tunnels_[at]->port();
    }
    return client::connect(endpoint, std::chrono::steady_clock::now() + Process::kPatience);
  }
  TlsSocket socket(Transport transport, int receive_buffer = 0) {
    return TlsSocket(server_.port(transport), {.trusted = files_.certificate, .receive_buffer = receive_buffer});
  }
  std::string url(const std::string& path) {
    return "https://localhost:" + std::to_string(server_.port(Transport::kHttp)) + path;
  }
  // By curl, which has to trust the certificate.
  EndedProcess curl(std::vector<std::string> more) {
    std::vector<std::string> args{"curl", "-sS", "--max-time", "20", "--noproxy", "*", "--cacert", files_.certificate};
    args.insert(args.end(), more.begin(), more.end());
    return run_to_end({.args = args});
  }

 private:
  static LiveServer::Options options(const CertificateFiles& files, std::vector<std::string> set) {
    for (const Transport transport : kEncrypted) set.push_back(std::string(name_of(transport)) + ".tls=true");
    set.push_back("tls.certificate=" + files.certificate);
    set.push_back("tls.key=" + files.key);
    return {.set = std::move(set)};
  }

  TemporaryDirectory directory_;
  CertificateFiles files_;
  LiveServer server_;
  std::vector<std::unique_ptr<TlsTunnel>> tunnels_;
};

std::string request(int id, std::string_view method, const Json& params) {
  return Json{{"jsonrpc", "2.0"}, {"id", id}, {"method", method}, {"params", params}}.dump();
}

Process::Options serve_with(const TemporaryDirectory& directory, const std::vector<std::string>& settings) {
  Process::Options options;
  options.args = {kProgram, "serve", "--simulator", "--settings", directory / "settings.json"};
  for (const char* transport : {"tcp", "udp", "http", "ws"}) {
    options.args.insert(options.args.end(), {"--set", std::string(transport) + ".port=0"});
  }
  for (const auto& setting : settings) options.args.insert(options.args.end(), {"--set", setting});
  return options;
}

}  // namespace

TEST_CASE("over TLS calls are answered, and 20,000 tokens arrive byte for byte") {
  TlsServer server;
  RpcClient(server.connect(Transport::kTcp)).init(shipped_model("fast"));
  int id = 100;
  for (const Transport transport : kEncrypted) {
    INFO(name_of(transport));
    RpcClient client(server.connect(transport), id += 100);
    CHECK(client.result("CPU4")["value"] == 16);
    const std::string prompt = "@n=20000 @seed=" + std::to_string(id);
    const auto stream = client.stream(client.run_async("llm-1", prompt));
    CHECK(difference(*server, stream, prompt, 20'000) == "");
  }
}

TEST_CASE("over TLS several clients stream at once, each its own text") {
  constexpr int kClients = 6;
  TlsServer server;
  RpcClient control(server.connect(Transport::kTcp));
  const std::string model = server->write_model("small", {{"npu_cores", 1}, {"decode_tokens_per_s", 20'000}});
  for (int handle = 0; handle < 3; ++handle) control.init(model);
  std::vector<std::future<std::string>> clients;
  for (int number = 0; number < kClients; ++number) {
    clients.push_back(std::async(std::launch::async, [&server, number] {
      RpcClient client(server.connect(kEncrypted[static_cast<std::size_t>(number) % 3]), 1000 * number);
      const std::string prompt = "@n=3000 @seed=" + std::to_string(number);
      const auto stream = client.stream(client.run_async("llm-" + std::to_string(number % 3 + 1), prompt));
      return difference(*server, stream, prompt, 3000);
    }));
  }
  for (auto& client : clients) CHECK(client.get() == "");
}

TEST_CASE("curl polls a stream over HTTPS, and the last answer of a connection ends with close_notify") {
  TlsServer server;
  RpcClient(server.connect(Transport::kTcp)).init(shipped_model("fast"));
  const std::string prompt = "@n=500 @seed=7";
  const auto started =
      server.curl({"-d", request(1, "rkllm_run_async", run_params("llm-1", prompt)), server.url("/jsonrpc")});
  INFO(started.err);
  REQUIRE(started.status == 0);
  StreamCheck stream(1, "rkllm_run_async");
  stream.take(Json::parse(started.out));
  while (!stream.ended()) {
    const auto polled = server.curl({"-d", request(1, "poll", {{"wait_ms", 1000}}), server.url("/jsonrpc")});
    REQUIRE(polled.status == 0);
    stream.take(Json::parse(polled.out));
  }
  CHECK(difference(*server, stream, prompt, 500) == "");

  const auto health = server.curl({"-H", "Connection: close", server.url("/health")});
  CHECK(health.status == 0);  // 56 if the connection had been cut
  for (const Transport transport : kEncrypted) {
    CHECK(Json::parse(health.out)["transports"][std::string(name_of(transport))]["tls"] == true);
  }
  auto socket = server.socket(Transport::kHttp);
  socket.send("GET /health HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
  CHECK(socket.receive_rest().find("\"status\":\"healthy\"") != std::string::npos);
  CHECK(socket.end() == TlsSocket::End::kNotified);
}

TEST_CASE("on an HTTPS port the origins of pages served by https are judged as those of http are") {
  TlsServer server({"http.allowed_origins=https://chat.example"});
  const auto status_for = [&server](const std::string& origin) {
    return server.curl({"-o", "/dev/null", "-w", "%{http_code}", "-H", "Origin: " + origin, server.url("/health")}).out;
  };
  CHECK(status_for("https://localhost:3000") == "200");
  CHECK(status_for("https://chat.example") == "200");
  CHECK(status_for("https://evil.example") == "403");
  CHECK(server.curl({"-o", "/dev/null", "-w", "%{http_code}", "-H", "Host: evil.example", server.url("/health")}).out ==
        "403");
}

TEST_CASE("TLS 1.1 and plain text on a TLS port get nowhere, and count as nothing") {
  TlsServer server;
  CHECK(server.curl({"--tls-max", "1.1", server.url("/health")}).status != 0);
  for (const Transport transport : kEncrypted) {
    RawSocket plain(server->port(transport));
    plain.send("GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n");
    CHECK(plain.ends());
  }
  const auto metrics = server.curl({server.url("/metrics")});
  CHECK(metrics.out.find("rkllm_mcp_connections{transport=\"tcp\"} 0") != std::string::npos);
}

TEST_CASE("over TLS a client that stops reading does not slow another, and is closed") {
  TlsServer server({"limits.stall_s=3"});
  RpcClient other(server.connect(Transport::kTcp));
  other.init(shipped_model("fast"));
  other.init(shipped_model("fast"));
  auto stalled = server.socket(Transport::kTcp, kSmallWindow);
  stalled.send(request(1, "rkllm_run_async", run_params("llm-1", "@n=2000000 @seed=1")) + "\n");
  stalled.receive_until("\n");

  const std::string prompt = "@n=20000 @seed=2";
  const auto stream = other.stream(other.run_async("llm-2", prompt));
  CHECK(difference(*server, stream, prompt, 20'000) == "");
  REQUIRE(other.result("rkllm_get_kv_cache_size", {{"handle", "llm-1"}}).contains("cache_sizes"));
  CHECK(run_of(*server, "@n=2000000 @seed=1").aborted);
}

TEST_CASE("over TLS a client that leaves in the middle of a stream stops its own run only") {
  TlsServer server;
  RpcClient other(server.connect(Transport::kTcp));
  const std::string model = server->paced_model(200);
  other.init(model);
  other.init(model);
  const std::string prompt = "@n=100 @seed=3";
  StreamCheck stream(other.run_async("llm-2", prompt), "rkllm_run_async");
  auto leaving = std::make_unique<TlsSocket>(server->port(Transport::kTcp),
                                             TlsSocket::Options{.trusted = server.files().certificate});
  leaving->send(request(1, "rkllm_run_async", run_params("llm-1", kEndless)) + "\n");
  leaving->receive_until("\n");
  leaving.reset();
  REQUIRE(other.result("rkllm_get_kv_cache_size", {{"handle", "llm-1"}}).contains("cache_sizes"));
  CHECK(run_of(*server, kEndless).aborted);
  other.read_stream(stream, [&stream] { return stream.ended(); });
  CHECK(difference(*server, stream, prompt, 100) == "");
}

TEST_CASE("SIGHUP serves the renewed certificate to new connections, and keeps the old one if it cannot be used") {
  TlsServer server;
  auto before = server.socket(Transport::kTcp);
  const std::string old_certificate = server.directory() + "/old.pem";
  write_file(old_certificate, read_file(server.files().certificate));
  const auto renewed = make_certificate(server.directory(), "renewed");
  write_file(server.files().certificate, read_file(renewed.certificate));
  server->process().signal(SIGHUP);  // the key is still the old one
  REQUIRE(server->process().wait_for_error_text("TLS goes on with the certificate it has"));
  CHECK(server->process().wait_for_error_text("is not the key of the certificate"));
  CHECK(TlsSocket(server->port(Transport::kTcp), {.trusted = old_certificate}).server_name() == "server");

  write_file(server.files().key, read_file(renewed.key));
  server->process().signal(SIGHUP);
  REQUIRE(server->process().wait_for_error_text("the TLS certificate was read again"));
  CHECK(server.socket(Transport::kWebSocket).server_name() == "renewed");
  before.send(request(1, "CPU4", Json::object()) + "\n");
  CHECK(before.receive_until("\n").find("16") != std::string::npos);
}

TEST_CASE("TLS without a certificate, or with one that cannot be used, is a start-up error that says why") {
  TemporaryDirectory directory;
  const auto files = make_certificate(directory.path());
  const auto unnamed = run_to_end(serve_with(directory, {"ws.tls=true"}));
  CHECK(unnamed.status == 3);
  CHECK(unnamed.err.find("ws.tls: TLS takes a certificate and its key; name their files in tls.certificate and "
                         "tls.key") != std::string::npos);

  REQUIRE(::chmod(files.key.c_str(), 0644) == 0);
  const auto open = run_to_end(
      serve_with(directory, {"http.tls=true", "tls.certificate=" + files.certificate, "tls.key=" + files.key}));
  CHECK(open.status == 4);
  CHECK(open.err.find(files.key + ": is open to other users") != std::string::npos);
  CHECK(open.err.find("PRIVATE") == std::string::npos);
}

TEST_CASE("the start-up log says which transports use TLS") {
  TlsServer server;
  for (const Transport transport : kEncrypted) {
    const std::string port = std::to_string(server->port(transport));
    CHECK(server->process().wait_for_error_text(std::string(name_of(transport)) + " on 127.0.0.1:" + port + ", TLS\n"));
  }
  CHECK(server->process().wait_for_error_text("udp on 127.0.0.1:" + std::to_string(server->port(Transport::kUdp)) +
                                              "\n"));
}

}  // namespace rkllm_mcp::test
