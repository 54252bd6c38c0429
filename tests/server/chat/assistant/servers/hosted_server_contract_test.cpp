// What chat/assistant/servers/hosted_server.hpp promises of a server (HostedServer) and of one call of it (HostCall),
// held against every kind: a service of this process, and another program's over HTTP.
#include "chat/assistant/servers/remote_server.hpp"
#include "chat/assistant/servers/service_server.hpp"

#include "jsonrpc/envelope.hpp"
#include "runtime/transport/loop_thread.hpp"
#include "support/catch.hpp"
#include "support/web_server.hpp"

#include <asio/read.hpp>

#include <cstddef>
#include <exception>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace rkllm_mcp::test {
namespace {

constexpr const char* kNameOfServer = "test-server";

// Where calls of "test/keep" wait on the other side, until the test lets them go.
struct Gate {
  Event has_come;
  Event may_go;
};

RpcError refusal() { return {ErrorCode::kInvalidParams, "no such day", Json{{"path", "params.day"}}}; }

// One call, as whoever waits for it sees it. On the loop.
struct CallToldOf {
  std::unique_ptr<chat::HostCall> call;
  int ends = 0;
  bool was_told_elsewhere = false;  // from inside of call(), or from another thread than the loop's
  Json result;
  std::exception_ptr error;
};
using Told = std::shared_ptr<CallToldOf>;

class OfOneHostedServer {
 public:
  // On the loop. `then` runs when the call has ended.
  Told begin(const std::string& method, const Json& params = Json::object(), std::function<void()> then = {}) {
    const auto told = std::make_shared<CallToldOf>();
    told_.push_back(told);
    is_inside_ = true;
    told->call = server->call(method, params, who, [this, told, then](Json result, std::exception_ptr error) {
      ++told->ends;
      told->was_told_elsewhere |= is_inside_ || !loop.io().get_executor().running_in_this_thread();
      told->result = std::move(result);
      told->error = std::move(error);
      if (then) then();
    });
    is_inside_ = false;
    return told;
  }
  // Begins it, and waits for its end.
  Told made(const std::string& method, const Json& params = Json::object()) {
    const Told told = loop.call([&] { return begin(method, params); });
    CHECK(has_ended(told));
    CHECK(loop.call([&] { return told->ends == 1 && !told->was_told_elsewhere; }));
    return told;
  }
  bool has_ended(const Told& told) {
    return loop.eventually([&] { return told->ends > 0; });
  }

  const Principal who{"Ada"};
  Gate gate;
  std::unique_ptr<chat::HostedServer> server;

 protected:
  // Before what the calls and the server use is gone: members of whoever derives from this are the first to go.
  void give_up() {
    loop.call([this] {
      for (const Told& told : told_) told->call.reset();
      server.reset();
    });
  }

 private:
  std::vector<Told> told_;
  bool is_inside_ = false;

 public:
  LoopThread loop;  // last: what it calls uses all of the above
};

// ServiceServer, whose calls are ServiceServer::Caller
struct OfThisProcess : OfOneHostedServer {
  OfThisProcess() {
    const auto method = [](const std::string& name, std::function<void(mcp::MethodCall, mcp::DoneFunction)> run) {
      return mcp::ServiceMethod{.name = name,
                                .title = "",
                                .description = "",
                                .params_schema = Json::object(),
                                .result_schema = Json::object(),
                                .run = std::move(run)};
    };
    mcp::Service service{.name = kNameOfServer, .instructions = "", .methods = {}, .tools = {}, .documents = {}};
    service.methods = {
        method("test/echo",
               [](const mcp::MethodCall& call, const mcp::DoneFunction& done) { done(call.params, nullptr); }),
        method("test/refuse", [](const mcp::MethodCall&, const mcp::DoneFunction&) { throw refusal(); }),
        method("test/fail", [](const mcp::MethodCall&,
                               const mcp::DoneFunction& done) { done(nullptr, std::make_exception_ptr(refusal())); }),
        method("test/keep", [this](const mcp::MethodCall&, const mcp::DoneFunction& done) {
          kept_ = done;
          gate.has_come.happen();
        })};
    loop.call([&] { server = std::make_unique<chat::ServiceServer>(loop.io(), Immutable<mcp::Service>(service)); });
  }
  ~OfThisProcess() { give_up(); }
  void let_go() {
    loop.call([this] { std::exchange(kept_, nullptr)(Json{{"kept", true}}, nullptr); });
  }
  static bool has_nothing_left() { return true; }

 private:
  mcp::DoneFunction kept_;
};

// RemoteServers::Server, whose calls are RemoteServers::RemoteCall
struct OfAnotherProgram : OfOneHostedServer {
  OfAnotherProgram() {
    loop.call([this] {
      // No request ends by itself while a test waits for its end.
      servers_ =
          std::make_unique<chat::RemoteServers>(loop.io(), chat::RemoteServers::Options{.patience = 10 * kPatience});
      server = servers_->server(kNameOfServer, web_.url());
    });
  }
  ~OfAnotherProgram() {
    give_up();
    loop.call([this] { servers_.reset(); });
  }
  void let_go() { gate.may_go.happen(); }
  // After the last call was given up: also its request has ended.
  bool has_nothing_left() { return servers_->end(Clock::now() + kPatience); }

 private:
  static Json request_of(const std::string& head, WebServer::Socket& socket) {
    const std::string length_field = "Content-Length: ";
    const std::size_t size = std::stoul(head.substr(head.find(length_field) + length_field.size()));
    std::string body = head.substr(head.find("\r\n\r\n") + 4);
    asio::error_code error;
    if (body.size() < size) {
      asio::read(socket, asio::dynamic_buffer(body), asio::transfer_exactly(size - body.size()), error);
    }
    return Json::parse(body);
  }
  void serve(const std::string& head, WebServer::Socket& socket) const {
    const Json request = request_of(head, socket);
    Json answer{{"jsonrpc", "2.0"}, {"id", request["id"]}};
    const std::string method = request["method"];
    const auto is = [&](const char* name) { return method == std::string(kNameOfServer) + "/test/" + name; };
    if (is("echo")) {
      answer["result"] = request["params"];
    } else if (is("keep")) {
      gate.has_come.happen();
      if (!gate.may_go.happens_within(2 * kPatience)) return;  // longer than a test waits for a request to end
      answer["result"] = Json{{"kept", true}};
    } else if (is("refuse") || is("fail")) {
      const RpcError error = refusal();
      answer["error"] = {{"code", error.code()}, {"message", error.what()}, {"data", error.data()}};
    } else {
      answer["error"] = {{"code", ErrorCode::kMethodNotFound}, {"message", "no " + method}};
    }
    WebServer::send(socket, web_answer(answer.dump(), "application/json"));
  }

  WebServer web_{[this](const std::string& head, WebServer::Socket& socket) { serve(head, socket); }};
  std::unique_ptr<chat::RemoteServers> servers_;
};

// So long that it is not read on the loop.
constexpr std::size_t kLongAnswer = 300'000;

}  // namespace

#define EVERY_SERVER OfThisProcess, OfAnotherProgram

TEMPLATE_TEST_CASE("a call of any server of the host brings its result, however long, once and from the loop", "",
                   EVERY_SERVER) {
  TestType one;
  CHECK(one.loop.call([&] { return one.server->name(); }) == kNameOfServer);
  for (const std::size_t size : {std::size_t{0}, std::size_t{100}, kLongAnswer}) {
    const Json params{{"text", std::string(size, 'a')}, {"and", {1, 2.5, nullptr}}};
    const Told told = one.made("test/echo", params);
    CHECK_FALSE(told->error);
    CHECK(told->result == params);
  }
}

TEMPLATE_TEST_CASE("a call of any server of the host that fails brings why, as the server says it", "", EVERY_SERVER) {
  TestType one;
  for (const std::string method : {"test/refuse", "test/fail", "test/unknown"}) {
    INFO(method);
    const Told told = one.made(method);
    REQUIRE(told->error);
    REQUIRE_THROWS_AS(std::rethrow_exception(told->error), RpcError);
    const RpcError error = as_rpc_error(told->error);
    if (method == "test/unknown") {
      CHECK(error.code() == ErrorCode::kMethodNotFound);
    } else {
      CHECK(error.code() == refusal().code());
      CHECK(error.what() == std::string(refusal().what()));
      CHECK(error.data() == refusal().data());
    }
  }
}

TEMPLATE_TEST_CASE("a call of any server of the host does not wait for another that is under way", "", EVERY_SERVER) {
  TestType one;
  const Told kept = one.loop.call([&] { return one.begin("test/keep"); });
  REQUIRE(one.gate.has_come.happens());
  CHECK(one.made("test/echo", Json{{"which", "later"}})->result == Json{{"which", "later"}});
  CHECK(one.loop.call([&] { return kept->ends; }) == 0);
  one.let_go();
  CHECK(one.has_ended(kept));
  CHECK(kept->result == Json{{"kept", true}});
}

TEMPLATE_TEST_CASE("nothing comes of a call of any server of the host that was given up, and nobody waits for it", "",
                   EVERY_SERVER) {
  TestType one;
  const Told kept = one.loop.call([&] { return one.begin("test/keep"); });
  REQUIRE(one.gate.has_come.happens());
  one.loop.call([&] { kept->call.reset(); });
  std::vector<Told> given_up{kept};
  for (const std::string method : {"test/echo", "test/refuse"}) {
    for (const std::size_t size : {std::size_t{0}, kLongAnswer}) {
      given_up.push_back(one.loop.call([&] {
        const Told told = one.begin(method, Json{{"text", std::string(size, 'a')}});
        told->call.reset();
        return told;
      }));
    }
  }
  one.made("test/echo");
  one.made("test/echo", Json{{"text", std::string(kLongAnswer, 'a')}});
  CHECK(one.has_nothing_left());
  one.let_go();
  for (const Told& told : given_up) CHECK(one.loop.call([&] { return told->ends; }) == 0);
}

TEMPLATE_TEST_CASE("who hears of the end of a call of any server of the host may destroy it there and begin another",
                   "", EVERY_SERVER) {
  TestType one;
  for (const std::string method : {"test/echo", "test/refuse"}) {
    Told first;
    Told second;
    one.loop.call([&] {
      first = one.begin(method, Json::object(), [&] {
        first->call.reset();
        second = one.begin("test/echo", Json{{"which", "second"}});
      });
    });
    CHECK(one.loop.eventually([&] { return second && second->ends > 0; }));
    one.loop.call([&] {
      CHECK(first->ends == 1);
      CHECK(second->ends == 1);
      CHECK(second->result == Json{{"which", "second"}});
      CHECK_FALSE((first->was_told_elsewhere || second->was_told_elsewhere));
    });
  }
}

}  // namespace rkllm_mcp::test
