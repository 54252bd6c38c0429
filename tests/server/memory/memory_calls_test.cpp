// What CallsOverConnection makes of answers that no memory server gives.
#include "memory/memory_calls.hpp"

#include "client/connection.hpp"
#include "clock.hpp"
#include "support/catch.hpp"

#include <rkllm_mcp/errors.hpp>

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

using namespace rkllm_mcp;

namespace {

// Answers once, whatever is asked.
class OneAnswer final : public client::Connection {
 public:
  explicit OneAnswer(std::string text) : text_(std::move(text)) {}
  void send(std::string_view) override {}
  std::optional<std::string> receive(Clock::time_point) override { return std::exchange(text_, std::nullopt); }

 private:
  std::optional<std::string> text_;
};

Json called(const std::string& answer) {
  return memory::calls_over(std::make_unique<OneAnswer>(answer), std::chrono::minutes(1))
      ->call("memory/list", Json::object());
}

}  // namespace

TEST_CASE("a server that does not speak JSON-RPC is told as one that cannot be used, whatever it means by an error") {
  for (const char* const answer :
       {R"({"error": "not found"})", R"({"error": null, "id": null})", R"({"error": {"message": "no"}})",
        R"({"error": {"code": "404", "message": "no"}})", R"({"error": {"code": 404, "message": 5}})",
        R"({"id": 1, "error": "no"})", R"({"id": 1})", R"({"detail": "Not Found"})", R"(["error"])", "no"}) {
    INFO(answer);
    CHECK_THROWS_AS(called(answer), client::ConnectionError);
  }
}

TEST_CASE("what is no UTF-8 is asked for with U+FFFD in its place") {
  CHECK(memory::calls_over(std::make_unique<OneAnswer>(R"({"id": 1, "result": {}})"), std::chrono::minutes(1))
            ->call("memory/delete", {{"conversation_id", "caf\xe9"}}) == Json::object());
}

TEST_CASE("an error of JSON-RPC is the call's, also where the server has not read which one it was") {
  for (const char* const answer : {R"({"id": null, "error": {"code": -32601, "message": "no"}})",
                                   R"({"error": {"code": -32601, "message": "no"}})",
                                   R"({"id": 1, "error": {"code": -32601, "message": "no", "data": {"a": 1}}})"}) {
    INFO(answer);
    try {
      called(answer);
      FAIL("no error");
    } catch (const RpcError& error) {
      CHECK(error.code() == ErrorCode::kMethodNotFound);
      CHECK(error.what() == std::string("no"));
    }
  }
  CHECK(called(R"({"id": 1, "result": {"a": 1}})") == Json{{"a", 1}});
}
