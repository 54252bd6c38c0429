// `rkllm-mcp connect`, as a host starts it: a real server behind it, reached over every transport.
#include "support/catch.hpp"
#include "support/certificate.hpp"
#include "support/live_server.hpp"
#include "support/paths.hpp"
#include "support/process.hpp"
#include "support/rpc_client.hpp"
#include "support/stdio_connection.hpp"

#include <signal.h>
#include <sys/stat.h>

#include <chrono>
#include <memory>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

namespace rkllm_mcp::test {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::array kBridged{Transport::kTcp, Transport::kUnix, Transport::kUdp, Transport::kHttp,
                              Transport::kWebSocket};
// A whole second is what users are promised; sanitizers and busy machines need more.
constexpr std::chrono::milliseconds kPromptly{10'000};

std::string url_of(const LiveServer& server, Transport transport) {
  return server.endpoint(transport, transport == Transport::kHttp ? "/mcp" : "").url();
}

// The command, and a client that speaks to it.
class Host {
 public:
  explicit Host(std::vector<std::string> args, std::vector<std::pair<std::string, std::string>> env = {})
      : process_(options(std::move(args), std::move(env))), client_(std::make_unique<StdioConnection>(process_)) {}
  Host(const LiveServer& server, Transport transport) : Host({url_of(server, transport)}) {}

  Process& process() { return process_; }
  RpcClient& client() { return client_; }

  // The legacy handshake.
  Json initialize() {
    Json result = client_.result("initialize", {{"protocolVersion", "2025-11-25"},
                                                {"capabilities", Json::object()},
                                                {"clientInfo", {{"name", "test"}, {"version", "1"}}}});
    client_.send_text(R"({"jsonrpc":"2.0","method":"notifications/initialized"})");
    return result;
  }
  Json tool(const std::string& name, const Json& arguments) {
    const Json result = client_.result("tools/call", {{"name", name}, {"arguments", arguments}});
    if (result.value("isError", false)) throw std::runtime_error(result.dump());
    return result["structuredContent"];
  }
  std::string init(const std::string& model) {
    return tool("rkllm_init", {{"param", {{"model_path", model}}}})["handle"].get<std::string>();
  }
  // Starts to generate, with progress; gives the request's id, which is the token as well.
  int generate(const std::string& handle, const std::string& prompt) {
    const int id = ++last_token_ + 1000;
    client_.send_text(
        Json{{"jsonrpc", "2.0"},
             {"id", id},
             {"method", "tools/call"},
             {"params",
              {{"name", "rkllm_run"},
               {"arguments",
                {{"handle", handle}, {"rkllm_input", {{"prompt_input", prompt}}}, {"progress_message", "delta"}}},
               {"_meta", {{"progressToken", id}}}}}}
            .dump());
    return id;
  }
  // The next message that is progress of it.
  Json progress_of(int token) {
    for (;;) {
      Json message = client_.receive_or_throw();
      if (message.value("method", "") != "notifications/progress") continue;
      if (message["params"]["progressToken"] == token) return message["params"];
    }
  }
  // The first update says that it waits or begins.
  void await_tokens(int token) {
    while (progress_of(token)["progress"] < 2) continue;
  }

 private:
  static Process::Options options(std::vector<std::string> args, std::vector<std::pair<std::string, std::string>> env) {
    args.insert(args.begin(), {kProgram, "connect"});
    return {.args = std::move(args), .env = std::move(env), .unset = {"RKLLM_MCP_TOKEN"}};
  }

  Process process_;
  RpcClient client_;
  int last_token_ = 0;
};

std::string request(const Json& id, const std::string& method, const Json& params = Json::object()) {
  return Json{{"jsonrpc", "2.0"}, {"id", id}, {"method", method}, {"params", params}}.dump() + "\n";
}

// What a request is answered with when the server has gone: the error. Whatever was under way comes first.
Json error_for(RpcClient& client, const Json& id) { return client.answer(id).at("error"); }

}  // namespace

TEST_CASE("connect: a tool's progress and its answer pass through, over every transport") {
  LiveServer server;
  for (const Transport transport : kBridged) {
    INFO(name_of(transport));
    Host host(server, transport);
    CHECK(host.initialize()["protocolVersion"] == "2025-11-25");
    const std::string handle = host.init(server.paced_model(200));
    const int id = host.generate(handle, "@n=40 @seed=3");
    std::string text;
    double last = -1;
    Json answer;
    while (answer.is_null()) {
      const Json message = host.client().receive_or_throw();
      if (message.value("id", Json()) == id) {
        answer = message;
      } else if (message.value("method", "") == "notifications/progress") {
        const Json& params = message["params"];
        if (params["progress"].get<double>() <= last) continue;  // a datagram may come twice
        if (last >= 0) text += params.value("message", "");      // the first says "started"
        last = params["progress"].get<double>();
      }
    }
    CHECK_FALSE(text.empty());
    const std::string whole = answer["result"]["structuredContent"]["text"].get<std::string>();
    CHECK(whole == server.recorded_runs().back().text);
    if (transport != Transport::kUdp) CHECK(text == whole);
    host.tool("rkllm_destroy", {{"handle", handle}});
    host.process().close_input();
    CHECK(host.process().read_rest().empty());
    CHECK(host.process().wait() == 0);
    CHECK(host.process().error_text().empty());
  }
}

TEST_CASE("connect: a cancelled call ends its run and is never answered, over every transport") {
  LiveServer server;
  for (const Transport transport : kBridged) {
    INFO(name_of(transport));
    Host host(server, transport);
    host.initialize();
    const std::string handle = host.init(server.paced_model(200));
    const int id = host.generate(handle, kEndless);
    host.await_tokens(id);
    host.client().send_text(
        Json{{"jsonrpc", "2.0"}, {"method", "notifications/cancelled"}, {"params", {{"requestId", id}}}}.dump());
    // Waits behind the run: answered when that is over.
    const int behind =
        host.client().send("tools/call", {{"name", "rkllm_get_kv_cache_size"}, {"arguments", {{"handle", handle}}}});
    for (;;) {
      const Json message = host.client().receive_or_throw();
      CHECK(message.value("id", Json()) != id);
      if (message.value("id", Json()) == behind) break;
    }
    host.tool("rkllm_destroy", {{"handle", handle}});
    const auto runs = server.recorded_runs();
    REQUIRE_FALSE(runs.empty());
    CHECK(runs.back().aborted);
  }
}

TEST_CASE("connect: the modern era passes through, with progress and cancellation, over every transport") {
  LiveServer server;
  for (const Transport transport : kBridged) {
    INFO(name_of(transport));
    Host host(server, transport);
    const Json meta = {{"io.modelcontextprotocol/protocolVersion", "2026-07-28"},
                       {"io.modelcontextprotocol/clientCapabilities", Json::object()}};
    const auto call = [&](const std::string& name, const Json& arguments) {
      return host.client().result("tools/call", {{"name", name}, {"arguments", arguments}, {"_meta", meta}});
    };
    const Json discovery = host.client().result("server/discover", {{"_meta", meta}});
    CHECK(discovery["supportedVersions"] == Json{"2026-07-28"});
    const Json init = call("rkllm_init", {{"param", {{"model_path", server.paced_model(200)}}}});
    CHECK(init["resultType"] == "complete");
    const Json handle = init["structuredContent"]["handle"];
    constexpr int kId = 77;
    Json with_token = meta;
    with_token["progressToken"] = kId;
    const Json arguments = {
        {"handle", handle}, {"rkllm_input", {{"prompt_input", kEndless}}}, {"progress_message", "delta"}};
    host.client().send_text(Json{{"jsonrpc", "2.0"},
                                 {"id", kId},
                                 {"method", "tools/call"},
                                 {"params", {{"name", "rkllm_run"}, {"arguments", arguments}, {"_meta", with_token}}}}
                                .dump());
    host.await_tokens(kId);
    host.client().send_text(
        Json{{"jsonrpc", "2.0"}, {"method", "notifications/cancelled"}, {"params", {{"requestId", kId}}}}.dump());
    call("rkllm_get_kv_cache_size", {{"handle", handle}});  // waits behind the run
    call("rkllm_destroy", {{"handle", handle}});
    const auto runs = server.recorded_runs();
    REQUIRE_FALSE(runs.empty());
    CHECK(runs.back().aborted);
    host.process().close_input();
    CHECK(host.process().read_rest().find("\"id\":77") == std::string::npos);
    CHECK(host.process().wait() == 0);
  }
}

TEST_CASE("connect: printf into it gets every answer, and the exit code 0") {
  LiveServer server;
  for (const Transport transport : kBridged) {
    INFO(name_of(transport));
    Host host(server, transport);
    host.process().write(request(1, "initialize",
                                 {{"protocolVersion", "2025-06-18"},
                                  {"capabilities", Json::object()},
                                  {"clientInfo", {{"name", "printf"}, {"version", "1"}}}}) +
                         "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}\n\r\n" +
                         request("second", "tools/list") + R"({"jsonrpc":"2.0","id":3,"method":"ping"})");
    host.process().close_input();
    std::set<std::string> answered;
    std::istringstream lines(host.process().read_rest());
    for (std::string line; std::getline(lines, line);) {
      const Json message = Json::parse(line);
      CHECK(message.contains("result"));
      answered.insert(message["id"].dump());
    }
    CHECK(answered == std::set<std::string>{"1", "\"second\"", "3"});
    CHECK(host.process().wait() == 0);
  }
}

TEST_CASE("connect: the end of input ends it within a second, also in the middle of a call") {
  LiveServer server;
  for (const Transport transport : kBridged) {
    INFO(name_of(transport));
    Host host(server, transport);
    host.initialize();
    const std::string handle = host.init(server.paced_model(200));
    host.progress_of(host.generate(handle, kEndless));
    const auto began = Clock::now();
    host.process().close_input();
    while (host.process().read_line()) continue;
    CHECK(host.process().wait() == 0);
    CHECK(Clock::now() - began < kPromptly);
    CHECK(host.process().error_text().empty());
    // Over UDP nobody knows that the client has gone.
    server.connect(Transport::kTcp)->send(request(1, "rkllm_abort", {{"handle", handle}}));
  }
}

TEST_CASE("connect: a server that is killed leaves errors for what is in flight, and the exit code 1") {
  for (const Transport transport : kBridged) {
    INFO(name_of(transport));
    LiveServer server;
    Host host(server, transport);
    host.initialize();
    const std::string handle = host.init(server.paced_model(200));
    const int id = host.generate(handle, kEndless);
    host.progress_of(id);
    server.process().signal(SIGKILL);
    const Json error = error_for(host.client(), id);
    CHECK(error["code"] == -32603);
    CHECK(error["data"]["url"] == url_of(server, transport));
    CHECK_FALSE(error["message"].get<std::string>().empty());
    CHECK(host.process().wait() == 1);
    CHECK_THAT(host.process().error_text(), has_text("rkllm-mcp: "));
  }
}

TEST_CASE("connect: a server that goes away while nothing is asked ends it, where the transport tells") {
  for (const Transport transport : {Transport::kTcp, Transport::kUnix, Transport::kWebSocket}) {
    INFO(name_of(transport));
    LiveServer server;
    Host host(server, transport);
    host.initialize();
    host.client().result("ping");
    server.process().signal(SIGKILL);
    CHECK(host.process().wait() == 1);
  }
}

TEST_CASE("connect: where nobody listens, the first request gets an error that names the place") {
  for (const char* url : {"tcp://127.0.0.1:1", "unix:///no/such/socket", "http://127.0.0.1:1/mcp",
                          "https://127.0.0.1:1", "ws://127.0.0.1:1"}) {
    INFO(url);
    Host host({url});
    const Json error = error_for(host.client(), host.client().send("ping"));
    CHECK(error["code"] == -32603);
    CHECK_THAT(error["data"]["url"].get<std::string>(), Catch::Matchers::StartsWith(url));
    CHECK(host.process().wait() == 1);
    CHECK_FALSE(host.process().error_text().empty());
  }
}

TEST_CASE("connect: a host that closes its end of standard output ends it") {
  LiveServer server;
  Host host(server, Transport::kTcp);
  host.initialize();
  host.process().close_output();
  host.process().write(request(7, "ping"));
  CHECK(host.process().wait() == 0);
}

TEST_CASE("connect: a token opens a server that asks for one, without it the host is told") {
  TemporaryDirectory directory;
  const std::string file = directory / "tokens";
  write_file(file, "host a-token-for-the-test\n");
  REQUIRE(chmod(file.c_str(), 0600) == 0);
  LiveServer server({.set = {"auth.tokens=" + file}});
  for (const Transport transport : kBridged) {
    INFO(name_of(transport));
    Host welcome({url_of(server, transport)}, {{"RKLLM_MCP_TOKEN", "a-token-for-the-test"}});
    CHECK(welcome.initialize()["serverInfo"]["name"] == "rkllm-server");
    Host stranger({url_of(server, transport), "--token", "wrong"});
    const Json error = error_for(stranger.client(), stranger.client().send("ping"));
    CHECK(error.contains("message"));
  }
}

TEST_CASE("connect: https is verified against the CA file") {
  TemporaryDirectory directory;
  const CertificateFiles files = make_certificate(directory.path());
  LiveServer server({.set = {"http.tls=true", "tls.certificate=" + files.certificate, "tls.key=" + files.key}});
  const std::string url = "https://localhost:" + std::to_string(server.port(Transport::kHttp)) + "/mcp";
  {
    Host host({url, "--ca-file", files.certificate});
    host.initialize();
    const std::string handle = host.init(shipped_model("fast"));
    host.progress_of(host.generate(handle, "@n=2000"));
    host.process().close_input();
    host.process().read_rest();
    CHECK(host.process().wait() == 0);
  }
  Host stranger({url});
  const Json error = error_for(stranger.client(), stranger.client().send("ping"));
  CHECK_THAT(error["message"].get<std::string>(), has_text("certificate cannot be verified"));
  CHECK(stranger.process().wait() == 1);
}

TEST_CASE("connect: what is no URL is a usage error") {
  for (const char* url : {"gopher://h:1", "tcp://h:x", "http:///x"}) {
    const auto finished = run_to_end({.args = {kProgram, "connect", url}});
    INFO(finished.err);
    CHECK(finished.status == 2);
    CHECK(finished.out.empty());
  }
}

}  // namespace rkllm_mcp::test
