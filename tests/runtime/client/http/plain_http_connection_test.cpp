#include "client/http/plain_http_connection.hpp"

#include "runtime/client/scripted_http_server.hpp"
#include "support/catch.hpp"

#include <atomic>
#include <chrono>
#include <cstddef>
#include <string>
#include <vector>

using namespace rkllm_mcp::client;
using rkllm_mcp::Clock;
using rkllm_mcp::Json;
using rkllm_mcp::test::ScriptedHttpServer;
using namespace std::chrono_literals;

namespace {

const std::string kRun = R"({"jsonrpc":"2.0","id":1,"method":"rkllm_run_async","params":{"stream":true}})";
const std::string kOpened = R"({"jsonrpc":"2.0","id":1,"result":{"stream_id":"s"}})";
const std::string kPlace = R"({"jsonrpc":"2.0","id":1,"result":{"queue_position":2}})";
const std::string kNothing = R"({"jsonrpc":"2.0","id":1,"result":{"chunk":{"seq":0,"delta":""}}})";
const std::string kHello = R"({"jsonrpc":"2.0","id":1,"result":{"chunk":{"seq":0,"delta":"Hello"}}})";
const std::string kEnd = R"({"jsonrpc":"2.0","id":1,"result":{"chunk":{"seq":1,"delta":"","end":true}}})";
const std::string kRefused = R"({"jsonrpc":"2.0","id":1,"error":{"code":4004,"message":"no memory"}})";
const std::string kForgotten = R"({"jsonrpc":"2.0","id":1,"error":{"code":4003,"message":"no such stream"}})";

// All that comes of a run which is answered, and whose stream is polled, with these texts.
std::vector<std::string> received(const std::vector<std::string>& answers) {
  std::atomic<std::size_t> asked = 0;
  ScriptedHttpServer server([&](const auto&, auto& response) {
    const std::size_t at = asked++;
    response.set_content(at < answers.size() ? answers[at] : kForgotten, "application/json");
  });
  const auto deadline = Clock::now() + 60s;
  PlainHttpConnection connection({Protocol::kHttp, "127.0.0.1", server.port(), "/mcp"}, deadline);
  connection.send(kRun);
  std::vector<std::string> all;
  while (const auto text = connection.receive(deadline)) all.push_back(*text);
  CHECK(asked == answers.size());  // a stream that has ended is not asked for any more
  return all;
}

using Texts = std::vector<std::string>;

}  // namespace

TEST_CASE("a stream is polled until its last chunk or an error, and what says nothing is not handed on") {
  CHECK(received({kOpened, kNothing, kHello, kEnd}) == Texts{kOpened, kHello, kEnd});
  CHECK(received({kOpened, kHello, kForgotten}) == Texts{kOpened, kHello, kForgotten});
}

TEST_CASE("a place in the queue is handed on, and is not the end of its stream") {
  CHECK(received({kOpened, kPlace, kPlace, kHello, kEnd}) == Texts{kOpened, kPlace, kPlace, kHello, kEnd});
}

TEST_CASE("a server without memory for an answer is asked again") {
  CHECK(received({kOpened, kHello, kRefused, kEnd}) == Texts{kOpened, kHello, kEnd});
}

TEST_CASE("a call that has ended for want of memory or time says so, though its stream is then known no more") {
  CHECK(received({kOpened, kRefused, kForgotten}) == Texts{kOpened, kRefused});
}
