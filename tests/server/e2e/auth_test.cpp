// Who has no token gets nothing done, whichever way he comes.
#include "arrived_whole.hpp"
#include "auth/guess_throttle.hpp"
#include "support/catch.hpp"
#include "support/client_frames.hpp"
#include "support/http_client.hpp"
#include "support/live_server.hpp"
#include "support/paths.hpp"
#include "support/raw_socket.hpp"
#include "support/raw_websocket.hpp"
#include "support/rpc_client.hpp"

#include <sys/stat.h>

#include <chrono>
#include <functional>
#include <set>
#include <string>

namespace rkllm_mcp::test {
namespace {

const std::string kEverything = "a-token-for-everything";
const std::string kUse = "a-token-to-use-what-is-loaded";

// A server that asks for tokens.
class GuardedServer {
 public:
  GuardedServer() : server_(options(directory_ / "tokens")) {}

  LiveServer& operator*() { return server_; }
  LiveServer* operator->() { return &server_; }
  RpcClient client(Transport transport, const std::string& token) {
    client::Endpoint endpoint = server_.endpoint(transport);
    endpoint.token = token;
    return RpcClient(client::connect(endpoint, std::chrono::steady_clock::now() + Process::kPatience));
  }

 private:
  static LiveServer::Options options(const std::string& file) {
    write_file(file, "everything " + kEverything + "\nuse " + kUse + " call\n");
    REQUIRE(chmod(file.c_str(), 0600) == 0);
    LiveServer::Options options;
    options.set = {"auth.tokens=" + file};
    options.with_stdio = true;
    return options;
  }

  TemporaryDirectory directory_;
  LiveServer server_;
};

const std::string kInit =
    Json{{"jsonrpc", "2.0"}, {"id", 1}, {"method", "rkllm_init"}, {"params", {{"param", {{"model_path", "x"}}}}}}
        .dump();

Json parsed_error(const std::string& text) {
  INFO(text);
  const Json message = Json::parse(text);
  REQUIRE(message.contains("error"));
  return message["error"];
}

}  // namespace

TEST_CASE("with a token every transport serves, and standard input needs none") {
  GuardedServer server;
  for (const Transport transport : {Transport::kTcp, Transport::kUdp, Transport::kHttp, Transport::kWebSocket}) {
    INFO(name_of(transport));
    RpcClient client = server.client(transport, kEverything);
    const std::string handle = client.init(shipped_model("fast"));
    CHECK(client.result("rkllm_run", run_params(handle, "@n=3"))["status"] == 0);
    CHECK(client.result("rkllm_destroy", {{"handle", handle}})["status"] == 0);
  }
  RpcClient host(server->connect(Transport::kStdio));
  CHECK(host.init(shipped_model("fast")) == "llm-5");
}

TEST_CASE("TCP: the first message must be a token, and nothing behind a refused one is executed") {
  GuardedServer server;
  for (const std::string& first :
       {kInit, std::string(R"({"jsonrpc":"2.0","id":1,"method":"auth","params":{"token":"nobody-has-this-one"}})"),
        std::string(R"({"jsonrpc":"2.0","id":1,"method":"auth"})"),
        std::string(R"({"jsonrpc":"2.0","id":1,)"
                    R"("method":"initialize"})")}) {
    RawSocket socket(server->port(Transport::kTcp));
    socket.send(first + "\n" + kInit + "\n");
    const Json error = parsed_error(socket.receive_rest());  // one answer, then the end
    CHECK(error["code"] == 4007);
    CHECK(error["message"].get<std::string>().find("unauthorized: ") == 0);
  }
  RawSocket notifying(server->port(Transport::kTcp));
  notifying.send(R"({"jsonrpc":"2.0","method":"rkllm_init","params":{"param":{"model_path":"x"}}})"
                 "\n");
  CHECK(notifying.receive_rest().empty());
  CHECK(server->health() == Json{{"status", "healthy"}});
}

TEST_CASE(
    "UDP: an error that nobody has asked for is not answered, and leaves what its address has under way as it is") {
  GuardedServer server;
  RpcClient owner = server.client(Transport::kTcp, kEverything);
  const std::string handle = owner.init(shipped_model("fast"));
  const auto connection = server->connect(Transport::kUdp);
  const auto with_token = [](int id, const std::string& method, Json params) {
    params["_meta"] = {{"token", kEverything}};
    return Json{{"jsonrpc", "2.0"}, {"id", id}, {"method", method}, {"params", std::move(params)}}.dump();
  };
  const auto next_id = [&connection] {
    const auto text = connection->receive(std::chrono::steady_clock::now() + RpcClient::kPatience);
    return text ? Json::parse(*text)["id"] : Json("nothing");
  };
  const Json run{{"name", "rkllm_run"}, {"arguments", run_params(handle, "@n=3")}};
  connection->send(with_token(1, "tools/call", run));
  for (const char* const id : {"null", "1"}) {
    connection->send(std::string(R"({"jsonrpc":"2.0","id":)") + id + R"(,"error":{"code":-32700,"message":"x"}})");
  }
  CHECK(next_id() == 1);
  connection->send(with_token(2, "ping", Json::object()));
  CHECK(next_id() == 2);
}

TEST_CASE("who guesses tokens is answered ever more slowly, and a right token from the same address at once") {
  GuardedServer server;
  const std::string wrong = R"({"jsonrpc":"2.0","id":1,"method":"auth","params":{"token":"nobody-has-this-one"}})";
  const auto guess = [&] {
    RawSocket socket(server->port(Transport::kTcp));
    socket.send(wrong + "\n" + kInit + "\n" + wrong + "\n");
    return parsed_error(socket.receive_rest())["code"];
  };
  const auto time_of = [](const auto& action) {
    const auto begun = std::chrono::steady_clock::now();
    action();
    return std::chrono::steady_clock::now() - begun;
  };
  for (int i = 0; i < 5; ++i) CHECK(guess() == 4007);
  CHECK(time_of([&] { CHECK(guess() == 4007); }) >= std::chrono::milliseconds(100));
  CHECK(time_of([&] { CHECK(guess() == 4007); }) >= std::chrono::milliseconds(200));
  const auto over_http = [&](const std::string& token, const std::string& path) {
    HttpClient http(server->endpoint(Transport::kHttp));
    http.carry_header("Authorization", "Bearer " + token);
    return http.get(path).status;
  };
  CHECK(time_of([&] { CHECK(over_http("nobody-has-this-one", "/metrics") == 401); }) >= std::chrono::milliseconds(400));
  CHECK(time_of([&] { CHECK(over_http("nobody-has-this-one", "/health") == 200); }) >= std::chrono::milliseconds(800));
  RawSocket waiting(server->port(Transport::kTcp));
  waiting.send(wrong + "\n");  // its answer takes 1600 ms, during which the right ones are served
  CHECK(over_http(kUse, "/metrics") == 200);
  CHECK(server.client(Transport::kTcp, kUse).call("ping").contains("result"));
  CHECK(waiting.receive_available().empty());
}

TEST_CASE("a guess is counted however it is presented, and its refusal comes, be it late") {
  GuardedServer server;
  const std::string wrong = "nobody-has-this-one";
  const std::string auth = R"({"jsonrpc":"2.0","id":1,"method":"auth","params":{"token":")" + wrong + R"("}})";
  std::function<void()> guess;
  SECTION("in front of a body that is too long for a stranger") {
    guess = [&] {
      RawSocket socket(server->port(Transport::kHttp));
      socket.send("POST /jsonrpc HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer " + wrong +
                  "\r\nContent-Length: 20000\r\n\r\n" + std::string(20'000, ' '));
      CHECK(socket.receive_rest().starts_with("HTTP/1.1 401 "));
    };
  }
  SECTION("in the handshake of a WebSocket, in front of a message that is too long for a stranger") {
    guess = [&] {
      RawSocket socket(server->port(Transport::kWebSocket));
      client::Endpoint endpoint = server->endpoint(Transport::kWebSocket);
      endpoint.token = wrong;
      open_websocket(socket, endpoint);
      socket.send(text_frame(std::string(20'000, ' ')) + text_frame(std::string(20'000, ' ')));
      CHECK(parsed_error(receive_frame(socket))["code"] == 4007);
      CHECK(receive_frame(socket).substr(0, 2) == "\x11\x31");  // 4401
      CHECK(socket.ends());
    };
  }
  SECTION("by who has proved itself over HTTP") {
    guess = [&] {
      HttpClient http(server->endpoint(Transport::kHttp));
      http.carry_header("Authorization", "Bearer " + kUse);
      const HttpAnswer answer = http.post("/jsonrpc", auth);
      CHECK(answer.status == 200);
      CHECK(answer.json()["error"]["code"] == 4007);
    };
  }
  SECTION("in a batch") {
    guess = [&] {
      RpcClient client = server.client(Transport::kTcp, kUse);
      client.result("initialize", {{"protocolVersion", "2025-03-26"}, {"capabilities", Json::object()}});
      client.send_text("[" + auth + "]");
      CHECK(client.receive_or_throw()[0]["error"]["code"] == 4007);
    };
  }
  for (unsigned i = 0; i < GuessThrottle::kFree; ++i) guess();
  const auto begun = std::chrono::steady_clock::now();
  guess();
  CHECK(std::chrono::steady_clock::now() - begun >= GuessThrottle::kFirst);
}

TEST_CASE("auth tells whose token it is and what it permits") {
  GuardedServer server;
  RpcClient client = server.client(Transport::kTcp, kUse);
  CHECK(client.result("auth", {{"token", kUse}}) == Json{{"name", "use"}, {"permissions", {"call"}}});
  CHECK(client.result("auth", {{"token", kEverything}}) ==
        Json{{"name", "everything"}, {"permissions", {"call", "admin"}}});
  LiveServer open;
  CHECK(RpcClient(open.connect(Transport::kTcp)).result("auth") ==
        Json{{"name", nullptr}, {"permissions", {"call", "admin"}}});
}

TEST_CASE("without the permission admin models are neither loaded nor unloaded") {
  GuardedServer server;
  RpcClient owner = server.client(Transport::kTcp, kEverything);
  const std::string handle = owner.init(shipped_model("fast"));
  for (const Transport transport : {Transport::kTcp, Transport::kUdp, Transport::kHttp, Transport::kWebSocket}) {
    INFO(name_of(transport));
    RpcClient guest = server.client(transport, kUse);
    CHECK(guest.result("rkllm_run", run_params(handle, "@n=3"))["status"] == 0);
    CHECK(guest.call("rkllm_destroy", {{"handle", handle}})["error"]["code"] == 4007);
    CHECK(guest.call("rkllm_init", {{"param", {{"model_path", shipped_model("fast")}}}})["error"]["code"] == 4007);
    const Json refused = guest.result("tools/call", {{"name", "rkllm_destroy"}, {"arguments", {{"handle", handle}}}});
    CHECK(refused["isError"] == true);
  }
  CHECK(owner.result("rkllm_run", run_params(handle, "@n=3"))["status"] == 0);
}

TEST_CASE("who may not call a tool is not shown it") {
  GuardedServer server;
  const auto names = [&server](const std::string& token) {
    RpcClient client = server.client(Transport::kTcp, token);
    const Json listed = client.result("tools/list");
    std::set<std::string> all;
    for (const Json& tool : listed.at("tools")) all.insert(tool["name"]);
    return all;
  };
  auto of_admin = names(kEverything);
  CHECK(of_admin.erase("rkllm_init") + of_admin.erase("rkllm_destroy") + of_admin.erase("unload_model") == 3);
  CHECK(of_admin.count("rkllm_run") == 1);
  CHECK(names(kUse) == of_admin);
}

TEST_CASE("a host that is refused finds no way to log in") {
  GuardedServer server;
  HttpClient http(server->endpoint(Transport::kHttp));
  for (const char* const path :
       {"/.well-known/oauth-protected-resource", "/.well-known/oauth-protected-resource/mcp",
        "/.well-known/oauth-authorization-server", "/.well-known/openid-configuration", "/authorize"}) {
    INFO(path);
    CHECK(http.get(path).status == 404);
    CHECK(http.post("/register", "{}").status == 404);
  }
}

TEST_CASE("HTTP without a token is 401, with a wrong one too, and a session is its bearer's alone") {
  GuardedServer server;
  HttpClient http(server->endpoint(Transport::kHttp));
  for (const char* const authorization : {"", "Bearer nobody-has-this-one", "Basic YTpi", "Bearer"}) {
    if (*authorization != '\0') http.carry_header("Authorization", authorization);
    for (const char* const path : {"/jsonrpc", "/mcp", "/"}) {
      const HttpAnswer answer = http.post(path, kInit);
      CHECK(answer.status == 401);
      CHECK(answer.json()["error"]["code"] == 4007);
      CHECK(answer.headers.at("WWW-Authenticate") == "Bearer");
    }
    CHECK(http.get("/servers").status == 401);
    CHECK(http.get("/health").json() == Json{{"status", "healthy"}});
  }
  http.carry_header("Authorization", "bearer " + kEverything);
  CHECK(http.get("/health").json().contains("transports"));
  // Two bearers, one id: their streams do not meet.
  RpcClient everything = server.client(Transport::kHttp, kEverything);
  RpcClient use = server.client(Transport::kHttp, kUse);
  const std::string handle = everything.init(shipped_model("fast"));
  const Json poll{{"jsonrpc", "2.0"}, {"id", everything.run_async(handle, kEndless)}, {"method", "poll"}};
  use.send_text(poll.dump());
  CHECK(use.receive_or_throw()["error"]["code"] == 4003);
  everything.send_text(poll.dump());
  CHECK(everything.receive_or_throw().contains("result"));
}

TEST_CASE("a WebSocket without a token in its handshake or its first message is closed with 4401") {
  GuardedServer server;
  RawSocket socket(server->port(Transport::kWebSocket));
  open_websocket(socket, server->endpoint(Transport::kWebSocket));
  socket.send(text_frame(kInit));
  CHECK(parsed_error(receive_frame(socket))["code"] == 4007);
  CHECK(receive_frame(socket).substr(0, 2) == "\x11\x31");  // 4401
  CHECK(socket.ends());

  RawSocket late(server->port(Transport::kWebSocket));
  open_websocket(late, server->endpoint(Transport::kWebSocket));
  late.send(text_frame(R"({"jsonrpc":"2.0","id":1,"method":"auth","params":{"token":")" + kUse + R"("}})"));
  CHECK(Json::parse(receive_frame(late))["result"]["name"] == "use");
  late.send(text_frame(R"({"jsonrpc":"2.0","id":2,"method":"ping"})"));
  CHECK(Json::parse(receive_frame(late))["result"] == Json::object());
}

TEST_CASE("UDP: each message needs its token, since addresses can be forged") {
  GuardedServer server;
  RpcClient client = server.client(Transport::kUdp, "");
  CHECK(client.call("ping", {{"_meta", {{"token", kUse}}}})["result"] == Json::object());
  CHECK(client.call("ping")["error"]["code"] == 4007);
  CHECK(client.call("auth", {{"token", kUse}})["result"]["name"] == "use");
  CHECK(client.call("ping")["error"]["code"] == 4007);
  CHECK(client.call("ping", {{"_meta", {{"token", "nobody-has-this-one"}}}})["error"]["code"] == 4007);
}

TEST_CASE("a file of tokens that is open to others is a start-up error, and no token is in the log") {
  TemporaryDirectory directory;
  const std::string file = directory / "tokens";
  write_file(file, "everything " + kEverything + "\n");
  REQUIRE(chmod(file.c_str(), 0644) == 0);
  Process::Options options;
  options.args = {kProgram, "serve", "--simulator", "--settings", directory / "s.json", "--set", "auth.tokens=" + file};
  const auto finished = run_to_end(options);
  CHECK(finished.status == 4);
  CHECK(finished.err.find(file + ": is open to other users; close it with chmod 600") != std::string::npos);
  CHECK(finished.err.find(kEverything) == std::string::npos);
}

}  // namespace rkllm_mcp::test
