// The two calls of the memory server, against one that a test writes.
#include "chat/mcp/memory_client.hpp"

#include "support/catch.hpp"

#include <rkllm_mcp/errors.hpp>

#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

using namespace rkllm_mcp;
using namespace rkllm_mcp::chat;
using rkllm_mcp::test::has_text;

namespace {

// A memory server that keeps its calls until the test answers them, or throws.
struct HeldMemory {
  struct Asked {
    std::string method;
    mcp::MethodCall call;
    mcp::DoneFunction done;
  };
  std::vector<Asked> asked;
  std::optional<RpcError> thrown;
  mcp::Service service = with({"memory/add_message", "memory/get_all_messages"});

  mcp::Service with(const std::vector<std::string>& methods) {
    mcp::Service made;
    for (const std::string& name : methods) {
      mcp::ServiceMethod method;
      method.name = name;
      method.run = [this, name](mcp::MethodCall call, mcp::DoneFunction done) {
        if (thrown) throw RpcError(*thrown);
        asked.push_back({name, std::move(call), std::move(done)});
      };
      made.methods.push_back(std::move(method));
    }
    return made;
  }
};

std::string words_of(const std::exception_ptr& error) {
  if (!error) return "none";
  try {
    std::rethrow_exception(error);
  } catch (const std::exception& each) {
    return each.what();
  }
}

}  // namespace

TEST_CASE("the messages of a conversation are asked for in the name of who asks, who is there until the answer") {
  asio::io_context loop;
  HeldMemory memory;
  MemoryClient client(loop, &memory.service);
  CHECK(client.has_server());
  Json messages;
  std::string error = "not called";
  {
    const Principal ann{.name = "ann", .may_admin = false};
    client.all_messages("c", ann, [&](Json result, const std::exception_ptr& each) {
      messages = std::move(result);
      error = words_of(each);
    });
  }
  REQUIRE(memory.asked.size() == 1);
  const auto& [method, call, done] = memory.asked[0];
  CHECK(method == "memory/get_all_messages");
  CHECK(call.params == Json{{"conversation_id", "c"}});
  CHECK(call.form == mcp::AnswerForm::kDirect);
  CHECK(call.principal->name == "ann");
  CHECK_FALSE(call.principal->may_admin);
  CHECK(error == "not called");
  done(Json{{"messages", {1, 2}}}, nullptr);
  CHECK(messages == Json{{"messages", {1, 2}}});
  CHECK(error == "none");
}

TEST_CASE("a message is added with its role, its text and what is known of it, or nothing where that is null") {
  asio::io_context loop;
  HeldMemory memory;
  MemoryClient client(loop, &memory.service);
  std::vector<std::string> errors;
  const auto note = [&errors](const std::exception_ptr& error) { errors.push_back(words_of(error)); };
  client.add_message("c", {.name = "ann"}, "user", "Hello", nullptr, note);
  client.add_message("c", {.name = "bob"}, "assistant", "", Json{{"partial", true}}, note);
  REQUIRE(memory.asked.size() == 2);
  CHECK(memory.asked[0].method == "memory/add_message");
  CHECK(memory.asked[0].call.params == Json{{"conversation_id", "c"}, {"role", "user"}, {"content", "Hello"}});
  CHECK(memory.asked[0].call.principal->name == "ann");
  CHECK(memory.asked[1].call.params ==
        Json{{"conversation_id", "c"}, {"role", "assistant"}, {"content", ""}, {"metadata", {{"partial", true}}}});
  CHECK(memory.asked[1].call.principal->name == "bob");
  CHECK(errors.empty());
  memory.asked[1].done(nullptr, std::make_exception_ptr(RpcError(ErrorCode::kTooLarge, "full")));
  memory.asked[0].done(Json::object(), nullptr);
  CHECK(errors == std::vector<std::string>{"full", "none"});
}

TEST_CASE("what the memory server refuses at once is told of a message from inside, of a list from the loop") {
  asio::io_context loop;
  HeldMemory memory;
  memory.thrown = RpcError(ErrorCode::kQueueFull, "too much to do");
  MemoryClient client(loop, &memory.service);
  std::string of_message;
  client.add_message("c", {}, "user", "a", nullptr,
                     [&of_message](const std::exception_ptr& error) { of_message = words_of(error); });
  CHECK(of_message == "too much to do");
  std::string of_list;
  client.all_messages("c", {}, [&of_list](const Json&, const std::exception_ptr& error) { of_list = words_of(error); });
  CHECK(of_list.empty());
  loop.run();
  CHECK(of_list == "too much to do");
}

TEST_CASE("nobody is called who has asked a client that has ended since") {
  asio::io_context loop;
  HeldMemory memory;
  int called = 0;
  {
    MemoryClient client(loop, &memory.service);
    client.all_messages("c", {}, [&called](const Json&, const std::exception_ptr&) { ++called; });
    client.add_message("c", {}, "user", "a", nullptr, [&called](const std::exception_ptr&) { ++called; });
    memory.thrown = RpcError(ErrorCode::kQueueFull, "too much to do");
    client.all_messages("c", {}, [&called](const Json&, const std::exception_ptr&) { ++called; });
  }
  REQUIRE(memory.asked.size() == 2);
  for (const auto& each : memory.asked) each.done(Json::object(), nullptr);
  loop.run();
  CHECK(called == 0);
}

TEST_CASE("a memory server that lacks what is asked of it is an error, and without one there is none") {
  asio::io_context loop;
  HeldMemory memory;
  memory.service = memory.with({"memory/search"});
  MemoryClient client(loop, &memory.service);
  std::string of_message;
  client.add_message("c", {}, "user", "a", nullptr,
                     [&of_message](const std::exception_ptr& error) { of_message = words_of(error); });
  CHECK_THAT(of_message, has_text("lacks memory/add_message"));
  CHECK_FALSE(MemoryClient(loop, nullptr).has_server());
}
