// What memory/memory_calls.hpp promises (MemoryCalls), held against both ways to call the memory server's methods: on
// its store, and by a server that runs.
#include "memory/memory_calls.hpp"

#include "server/memory/memory_server.hpp"
#include "support/catch.hpp"

#include <rkllm_mcp/errors.hpp>

#include <chrono>
#include <memory>
#include <optional>
#include <string>

namespace rkllm_mcp::test {
namespace {

// CallsOnStore
struct OnTheStore {
  TemporaryDirectory directory;
  std::unique_ptr<memory::MemoryCalls> calls =
      memory::calls_on_store(memory::MemoryOptions{.database = directory / "memory.db"});
};

// CallsOverConnection
struct ByAServer {
  TemporaryDirectory directory;
  LiveServer server{memory_only(directory / "memory.db")};
  std::unique_ptr<memory::MemoryCalls> calls =
      memory::calls_over(server.connect(Transport::kTcp), std::chrono::seconds(60));
};

// What a call has failed with; nothing if it has not.
std::optional<RpcError> failure_of_call(memory::MemoryCalls& calls, const std::string& method, const Json& params) {
  try {
    calls.call(method, params);
    return std::nullopt;
  } catch (const RpcError& error) {
    return error;
  }
}

}  // namespace

#define EVERY_WAY OnTheStore, ByAServer

TEMPLATE_TEST_CASE("whoever makes the calls of the memory server, each brings its result, however long", "",
                   EVERY_WAY) {
  TestType way;
  CHECK(way.calls->call("memory/get_or_create", of_chat("a")) == Json{{"conversation_id", "a"}});
  std::vector<std::string> contents;
  for (const std::size_t size : {1, 1'000, 300'000}) contents.push_back("ă\n\"" + std::string(size, 'x'));
  for (const std::string& content : contents) {
    CHECK(way.calls->call("memory/add_message", of_chat("a", {{"role", "user"}, {"content", content}})) ==
          Json{{"status", "success"}, {"conversation_id", "a"}});
  }
  const Json all = way.calls->call("memory/get_all_messages", of_chat("a"));
  REQUIRE(all["messages"].size() == contents.size());
  for (std::size_t at = 0; at < contents.size(); ++at) CHECK(all["messages"][at]["content"] == contents[at]);
}

TEMPLATE_TEST_CASE(
    "whoever makes the calls of the memory server, what is wrong with one is thrown, and the next goes on", "",
    EVERY_WAY) {
  TestType way;
  way.calls->call("memory/get_or_create", of_chat("a"));
  const auto check = [&](const std::string& method, const Json& params, ErrorCode code, const std::string& words,
                         const char* path) {
    INFO(method << " " << params);
    const auto error = failure_of_call(*way.calls, method, params);
    REQUIRE(error);
    CHECK(error->code() == code);
    CHECK_THAT(error->what(), has_text(words));
    if (path != nullptr) CHECK(error->data() == Json{{"path", path}});
    CHECK(way.calls->call("memory/get_or_create", of_chat("a")) == Json{{"conversation_id", "a"}});
  };
  const auto wrong = ErrorCode::kInvalidParams;
  check("memory/add_message", of_chat("a", {{"role", "king"}, {"content", "x"}}), wrong, "expected \"user\"",
        "params.role");
  check("memory/add_message", of_chat("a", {{"role", "user"}, {"content", 5}}), wrong, "expected string",
        "params.content");
  check("memory/add_message", Json::object(), wrong, "missing", "params.conversation_id");
  check("memory/rename", of_chat("none", {{"title", "x"}}), ErrorCode::kResourceNotFound, "none", nullptr);
  check("memory/no_such_method", Json::object(), ErrorCode::kMethodNotFound, "no_such_method", nullptr);
}

}  // namespace rkllm_mcp::test
