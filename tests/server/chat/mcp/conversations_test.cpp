// What the tool `chat` remembers: against a memory server that a test writes, and with no clock.
#include "chat/mcp/conversations.hpp"

#include "support/catch.hpp"

#include <rkllm_mcp/errors.hpp>

#include <optional>
#include <string>
#include <vector>

using namespace rkllm_mcp;
using namespace rkllm_mcp::chat;

namespace {

Json said(const std::string& role, const std::string& content) { return {{"role", role}, {"content", content}}; }

// A memory server whose answers a test writes.
struct ScriptedMemory {
  std::vector<Json> asked;  // the parameters of each call, with "method"
  std::vector<std::string> spaces;
  Json messages = Json::array();
  std::optional<RpcError> failure;

  mcp::Service service() {
    mcp::Service service;
    for (const char* const name : {"memory/get_all_messages", "memory/add_message"}) {
      mcp::ServiceMethod method;
      method.name = name;
      method.run = [this, name](mcp::MethodCall call, const mcp::DoneFunction& done) {
        call.params["method"] = name;
        asked.push_back(call.params);
        spaces.push_back(call.principal->name);
        if (failure) return done(nullptr, std::make_exception_ptr(*failure));
        done(Json{{"messages", messages}}, nullptr);
      };
      service.methods.push_back(std::move(method));
    }
    return service;
  }
};

}  // namespace

TEST_CASE("a model is told the latest messages, as many as there may be, from a user's on") {
  Json many = Json::array();
  for (int i = 0; i < 150; ++i) {
    many.push_back(said("user", "question " + std::to_string(i)));
    many.push_back(said("assistant", "answer " + std::to_string(i)));
  }
  const auto recalled = latest_of(many);
  CHECK(recalled.messages.size() == Conversations::kMostMessages);
  CHECK(recalled.left_out == 300 - Conversations::kMostMessages);
  CHECK(recalled.messages.front().role == Role::kUser);
  CHECK(text_of(recalled.messages.back()) == "answer 149");

  const auto long_ones = latest_of(Json{said("user", std::string(200'000, 'a')),
                                        said("assistant", std::string(200'000, 'b')), said("user", "last")});
  REQUIRE(long_ones.messages.size() == 1);
  CHECK(text_of(long_ones.messages[0]) == "last");
  CHECK(long_ones.left_out == 2);
  // Results of tools, whose calls are not kept, are nothing to a model.
  CHECK(latest_of(Json{said("user", "a"), said("tool", "b"), said("assistant", "c")}).messages.size() == 2);
  CHECK(latest_of(Json::array()).messages.empty());
}

TEST_CASE("what was said is read and kept in the space of who asks, the question before its answer") {
  asio::io_context loop;
  ScriptedMemory memory;
  memory.messages = Json{said("user", "Hello"), said("assistant", "Hi")};
  const mcp::Service server = memory.service();
  Conversations conversations(loop, &server);
  const Principal ann{.name = "ann"};
  std::optional<Conversations::Recalled> recalled;
  conversations.recall("c", ann, [&recalled](Conversations::Recalled each) { recalled = std::move(each); });
  CHECK_FALSE(recalled);  // never from inside
  loop.run();
  REQUIRE(recalled);
  CHECK_FALSE(recalled->error);
  CHECK(recalled->messages.size() == 2);

  int kept = 0;
  conversations.keep("c", ann, {.question = "And you?", .answer = "Fi", .is_partial = true},
                     [&kept](const std::exception_ptr& error) { kept += error ? 100 : 1; });
  CHECK(kept == 1);
  REQUIRE(memory.asked.size() == 3);
  CHECK(memory.asked[1] ==
        Json{{"conversation_id", "c"}, {"role", "user"}, {"content", "And you?"}, {"method", "memory/add_message"}});
  CHECK(memory.asked[2]["role"] == "assistant");
  CHECK(memory.asked[2]["metadata"] == Json{{"partial", true}});
  CHECK(memory.spaces == std::vector<std::string>{"ann", "ann", "ann"});
}

TEST_CASE("a memory server that refuses is an error, and nothing is half told") {
  asio::io_context loop;
  ScriptedMemory memory;
  memory.failure = RpcError(ErrorCode::kTooLarge, "full");
  const mcp::Service server = memory.service();
  Conversations conversations(loop, &server);
  const Principal ann{.name = "ann"};
  std::exception_ptr error;
  conversations.recall("c", ann, [&error](const Conversations::Recalled& each) { error = each.error; });
  loop.run();
  REQUIRE(error);
  CHECK_THROWS_WITH(std::rethrow_exception(error), test::has_text("begin another one"));
  error = nullptr;
  conversations.keep("c", ann, {.question = "a", .answer = "b"},
                     [&error](const std::exception_ptr& each) { error = each; });
  CHECK(error);
  CHECK(memory.asked.size() == 2);  // no answer without its question
  CHECK_FALSE(Conversations(loop, nullptr).available());
}
