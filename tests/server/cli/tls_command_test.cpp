// The commands that talk to a server, with TLS on every transport that has it.
#include "support/catch.hpp"
#include "support/certificate.hpp"
#include "support/paths.hpp"
#include "support/process.hpp"

#include <rkllm_mcp/json.hpp>

#include <tuple>

using namespace rkllm_mcp::test;
using rkllm_mcp::Json;

namespace {

// A server with TLS on TCP, HTTP and WebSocket, and the commands of somebody who uses it.
class EncryptedServer {
 public:
  // `address`: where it listens; its certificate is for 127.0.0.1.
  explicit EncryptedServer(const std::string& address = "127.0.0.1")
      : files_(make_certificate(home_.path())), process_(options(serve_args(address))) {
    if (!wait_for_file(home_ / "ports.json")) throw std::runtime_error("not started: " + process_.error_text());
    ports_ = Json::parse(read_file(home_ / "ports.json"));
  }

  EndedProcess run(std::vector<std::string> args) const {
    args.insert(args.begin(), kProgram);
    return run_to_end(options(std::move(args)));
  }
  Process::Options options(std::vector<std::string> args) const {
    return {.args = std::move(args),
            .env = {{"HOME", home_.path()}},
            .unset = {"XDG_CONFIG_HOME", "RKLLM_MCP_SETTINGS"},
            .directory = home_.path(),
            .input = Process::Options::Input::kNull};
  }
  std::string place(const std::string& transport) const { return "localhost:" + ports_[transport]["port"].dump(); }
  const std::string& certificate() const { return files_.certificate; }
  // The settings of the server, for a command that is to find it by them.
  std::vector<std::string> settings() const {
    std::vector<std::string> words;
    for (const char* transport : {"tcp", "http", "ws"}) {
      words.insert(words.end(), {"--set", std::string(transport) + ".tls=true", "--set",
                                 std::string(transport) + ".port=" + ports_[transport]["port"].dump()});
    }
    words.insert(words.end(), {"--set", "tls.certificate=" + files_.certificate, "--set", "tls.key=" + files_.key});
    return words;
  }

 private:
  std::vector<std::string> serve_args(const std::string& address) const {
    std::vector<std::string> args{kProgram, "serve", "--simulator", "--ports-file", home_ / "ports.json"};
    for (const std::string name : {"tcp", "udp", "http", "ws"})
      args.insert(args.end(), {"--set", name + ".port=0", "--set", name + ".address=" + address});
    for (const char* name : {"tcp", "http", "ws"}) args.insert(args.end(), {"--set", std::string(name) + ".tls=true"});
    args.insert(args.end(), {"--set", "tls.certificate=" + files_.certificate, "--set", "tls.key=" + files_.key});
    return args;
  }

  TemporaryDirectory home_;
  CertificateFiles files_;
  Process process_;
  Json ports_;
};

class PlainServer {
 public:
  PlainServer() : process_(options()) {
    if (!wait_for_file(home_ / "ports.json")) throw std::runtime_error("not started: " + process_.error_text());
    ports_ = Json::parse(read_file(home_ / "ports.json"));
  }
  std::string place(const std::string& transport) const { return "localhost:" + ports_[transport]["port"].dump(); }

 private:
  Process::Options options() const {
    std::vector<std::string> args{kProgram, "serve", "--simulator", "--ports-file", home_ / "ports.json"};
    for (const char* name : {"tcp", "udp", "http", "ws"})
      args.insert(args.end(), {"--set", std::string(name) + ".port=0"});
    return {.args = std::move(args),
            .env = {{"HOME", home_.path()}},
            .unset = {"XDG_CONFIG_HOME", "RKLLM_MCP_SETTINGS"},
            .directory = home_.path(),
            .input = Process::Options::Input::kNull};
  }

  TemporaryDirectory home_;
  Process process_;
  Json ports_;
};

}  // namespace

TEST_CASE("call speaks TLS over every transport that has it, and verifies the server against --cacert") {
  const EncryptedServer server;
  const std::string init = Json{{"param", {{"model_path", kModels + "/fast.json"}}}}.dump();
  const auto loaded = server.run(
      {"call", "rkllm_init", init, "--to", "tcps://" + server.place("tcp"), "--cacert", server.certificate()});
  INFO(loaded.err);
  REQUIRE(loaded.status == 0);
  const std::string params = R"({"rkllm_input":{"prompt_input":"@n=20000 Hello"}})";
  std::vector<std::string> texts;
  for (const auto& [scheme, transport] :
       {std::pair("tcps://", "tcp"), std::pair("https://", "http"), std::pair("wss://", "ws")}) {
    INFO(scheme);
    const std::string url = scheme + server.place(transport);
    const auto answered =
        server.run({"call", "--text", "rkllm_run_async", params, "--to", url, "--cacert", server.certificate()});
    CHECK(answered.err.empty());
    CHECK(answered.status == 0);
    texts.push_back(answered.out);
    const auto unverified = server.run({"call", "rkllm_is_running", "--to", url});
    CHECK(unverified.status == 1);
    CHECK(unverified.out.empty());
    CHECK_THAT(unverified.err, has_text("certificate cannot be verified") && has_text("--cacert FILE"));
  }
  CHECK(texts[0].size() > 20'000);
  CHECK(texts[0] == texts[1]);
  CHECK(texts[0] == texts[2]);
}

TEST_CASE("whoever reaches a server by a name that its certificate has not is told so, over every transport") {
  const EncryptedServer server("127.0.0.2");
  const auto elsewhere = [&server](const std::string& transport) {
    const std::string place = server.place(transport);
    return "127.0.0.2" + place.substr(place.find(':'));
  };
  const std::vector<std::vector<std::string>> commands{
      {"status", "--to", "https://" + elsewhere("http")},
      {"call", "rkllm_is_running", "--to", "tcps://" + elsewhere("tcp")},
      {"tools", "list", "--to", "https://" + elsewhere("http")},
      {"tools", "list", "--to", "wss://" + elsewhere("ws")}};
  for (auto command : commands) {
    INFO(command.back());
    command.insert(command.end(), {"--cacert", server.certificate()});
    const auto refused = server.run(command);
    CHECK(refused.status == 1);
    CHECK_THAT(refused.err, has_text("certificate cannot be verified: IP address mismatch; use the name that the "
                                     "certificate has\n"));
  }
}

TEST_CASE("connect carries messages over TLS on TCP, HTTP and WebSocket") {
  const EncryptedServer server;
  const Json client{{"name", "a test"}, {"version", "1"}};
  const Json params{{"protocolVersion", "2025-11-25"}, {"capabilities", Json::object()}, {"clientInfo", client}};
  const Json message{{"jsonrpc", "2.0"}, {"id", 1}, {"method", "initialize"}, {"params", params}};
  for (const auto& [scheme, transport, path] :
       {std::tuple("tcps://", "tcp", ""), std::tuple("https://", "http", "/mcp"), std::tuple("wss://", "ws", "")}) {
    INFO(scheme);
    auto options = server.options(
        {kProgram, "connect", scheme + server.place(transport) + path, "--cacert", server.certificate()});
    options.input = Process::Options::Input::kPipe;
    Process bridge(options);
    REQUIRE(bridge.write(message.dump() + "\n"));
    bridge.close_input();
    CHECK_THAT(bridge.read_rest(), has_text(R"("id":1)") && has_text(R"("protocolVersion":"2025-11-25")"));
    CHECK(bridge.wait() == 0);
  }
}

TEST_CASE("connect and tools say how to trust a server whose certificate nobody known has signed") {
  const EncryptedServer server;
  for (const auto& [scheme, transport] :
       {std::pair("tcps://", "tcp"), std::pair("https://", "http"), std::pair("wss://", "ws")}) {
    INFO(scheme);
    auto options = server.options({kProgram, "connect", scheme + server.place(transport)});
    options.input = Process::Options::Input::kPipe;
    Process bridge(options);
    CHECK(bridge.write(R"({"jsonrpc":"2.0","id":1,"method":"ping"})"
                       "\n"));
    CHECK_THAT(bridge.read_rest(), has_text("--cacert FILE"));
    CHECK(bridge.wait() == 1);
    CHECK_THAT(bridge.error_text(), has_text("--cacert FILE"));
    const auto tools = server.run({"tools", "list", "--to", scheme + server.place(transport)});
    CHECK(tools.status == 1);
    CHECK_THAT(tools.err, has_text("certificate cannot be verified") && has_text("--cacert FILE"));
  }
}

TEST_CASE("commands without --to find a server with TLS by the settings, and trust its own certificate") {
  const EncryptedServer server;
  for (std::vector<std::string> command : {std::vector<std::string>{"call", "CPU4"}, {"status"}}) {
    INFO(command[0]);
    const auto settings = server.settings();
    command.insert(command.end(), settings.begin(), settings.end());
    const auto finished = server.run(command);
    CHECK(finished.err.empty());
    CHECK(finished.status == 0);
    CHECK_FALSE(finished.out.empty());
  }
}

TEST_CASE("a server without TLS is named as such") {
  const EncryptedServer server;
  const auto plain = server.run({"call", "rkllm_is_running", "--to", "tcps://127.0.0.1:1"});
  CHECK(plain.status == 1);
  CHECK_THAT(plain.err, has_text("is the server running there?"));
}

TEST_CASE("a URL with the s of TLS too little or too much is answered with the one that is meant, and 1") {
  const EncryptedServer encrypted;
  const PlainServer plain;
  const auto check = [](const EncryptedServer& server, const std::string& url, const std::string& meant) {
    INFO(url);
    const auto called = server.run({"call", "rkllm_is_running", "--to", url, "--cacert", server.certificate()});
    CHECK(called.status == 1);
    CHECK(called.out.empty());
    CHECK_THAT(called.err, has_text(": use " + meant));
    auto options = server.options({kProgram, "connect", url, "--cacert", server.certificate()});
    options.input = Process::Options::Input::kPipe;
    Process bridge(options);
    CHECK(bridge.write(R"({"jsonrpc":"2.0","id":1,"method":"ping"})"
                       "\n"));
    const std::string out = bridge.read_rest();
    CHECK(bridge.wait() == 1);
    CHECK_THAT(bridge.error_text(), has_text(": use " + meant));
    CHECK_THAT(out, has_text(R"("code":-32603)"));
  };
  for (const auto& [scheme, with_tls, transport] :
       {std::tuple("http://", "https://", "http"), std::tuple("tcp://", "tcps://", "tcp"),
        std::tuple("ws://", "wss://", "ws")}) {
    check(encrypted, scheme + encrypted.place(transport), with_tls + encrypted.place(transport));
    check(encrypted, with_tls + plain.place(transport), scheme + plain.place(transport));
  }
  check(encrypted, "tcp://" + plain.place("http"), "http://" + plain.place("http"));
  check(encrypted, "http://" + plain.place("tcp"), "tcp://" + plain.place("tcp"));
}

TEST_CASE("status at a port with TLS names its URL") {
  const EncryptedServer server;
  const auto asked = server.run({"status", "--to", "http://" + server.place("http")});
  CHECK(asked.status == 1);
  CHECK_THAT(asked.err, has_text("that port speaks TLS: use https://" + server.place("http")));
}
