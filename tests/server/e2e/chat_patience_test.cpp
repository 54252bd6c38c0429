// Signs of life while a client waits: for a model that is being loaded, behind others, and for an answer that is held
// back until it is whole.
#include "named_models.hpp"
#include "support/catch.hpp"
#include "support/chat_dialect.hpp"
#include "support/http_client.hpp"
#include "support/live_server.hpp"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <functional>
#include <future>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace rkllm_mcp::test {
namespace {

constexpr const char* kEverySecond = "chat.heartbeat_s=1";
constexpr const char* kQueued = "queued";

// How many signs of life come before anything else does.
std::size_t signs_before_answer(const ChatDialect& dialect, std::string_view body) {
  std::size_t signs = 0;
  for (const Json& part : dialect.parts(body)) {
    const bool begins =
        part.is_object() && (part.value("type", "") == "response.created" || part.value("type", "") == "message_start");
    if (begins) continue;
    if (!dialect.is_sign_of_life(part)) break;
    ++signs;
  }
  return signs;
}

// Of these some streams begin with one of themselves.
std::size_t signs_at_once(const ChatDialect& dialect) {
  return dialect.kind == ChatDialect::Kind::kCompletions || dialect.kind == ChatDialect::Kind::kResponses ? 1 : 0;
}

// Reads a stream until that many signs of life have come; true if they have, and nothing else.
bool gets_signs(const LiveServer& server, const ChatDialect& dialect, const Json& question, std::size_t wanted) {
  HttpClient client(server.endpoint(Transport::kHttp));
  const HttpAnswer answer = client.post_in_parts(dialect.path, question.dump(), [&](std::string_view so_far) {
    return signs_before_answer(dialect, so_far) < wanted;
  });
  return answer.status == 200 && dialect.text_in(answer.body).empty();
}

// Each dialect's whole stream, asked for at once; empty where it has no words for the question.
std::vector<std::string> whole_streams(
    const LiveServer& server, const std::function<std::optional<Json>(const ChatDialect&, std::size_t)>& question) {
  std::vector<std::future<std::string>> asking;
  for (std::size_t number = 0; number < kChatDialects.size(); ++number) {
    asking.push_back(std::async(std::launch::async, [&, number] {
      const ChatDialect& dialect = kChatDialects.at(number);
      const auto body = question(dialect, number);
      if (!body) return std::string();
      return HttpClient(server.endpoint(Transport::kHttp)).post(dialect.path, body->dump()).body;
    }));
  }
  std::vector<std::string> bodies;
  for (auto& each : asking) bodies.push_back(each.get());
  return bodies;
}

std::string own_model(std::size_t number) { return "own-" + std::to_string(number); }

// A model for each dialect, so that none waits for another's.
void add_own_models(NamedModels& models) {
  for (std::size_t number = 0; number < kChatDialects.size(); ++number) {
    models.add(own_model(number), {{"decode_tokens_per_s", 10}});
  }
}

}  // namespace

TEST_CASE("a stream whose model is being loaded gets signs of life in its protocol's form") {
  NamedModels models;
  models.add("slow", {{"faults", {{{"when", "init"}, {"what", "hang"}}}}});
  LiveServer server(models.options({kEverySecond}));
  std::vector<std::future<bool>> waiting;
  for (const ChatDialect& dialect : kChatDialects) {
    waiting.push_back(std::async(std::launch::async, [&server, &dialect] {
      return gets_signs(server, dialect, dialect.question("slow", "Hello", true), 3);
    }));
  }
  for (std::size_t number = 0; number < waiting.size(); ++number) {
    CAPTURE(kChatDialects.at(number).path);
    CHECK(waiting.at(number).get());
  }
}

TEST_CASE("a stream that waits behind another one gets signs of life in its protocol's form, and then its answer") {
  NamedModels models;
  LiveServer server(models.add(kQueued, {{"decode_tokens_per_s", 10}}).options({kEverySecond}));
  const ChatDialect& holder = kChatDialects.front();
  std::atomic<bool> is_holding{false};
  std::atomic<bool> is_enough{false};
  auto holding = std::async(std::launch::async, [&] {
    HttpClient client(server.endpoint(Transport::kHttp));
    const Json question = holder.question(kQueued, "@n=100000000", true);
    client.post_in_parts(holder.path, question.dump(), [&](std::string_view) {
      is_holding = true;
      return !is_enough;
    });
  });
  await_health(server, [&](const Json&) { return is_holding.load(); });
  std::vector<std::future<std::string>> waiting;
  std::atomic<std::size_t> patient{0};
  for (const ChatDialect& dialect : kChatDialects) {
    waiting.push_back(std::async(std::launch::async, [&server, &dialect, &patient] {
      const Json question = dialect.question(kQueued, dictated("Hi."), true);
      bool has_counted = false;
      HttpClient client(server.endpoint(Transport::kHttp));
      return client
          .post_in_parts(dialect.path, question.dump(),
                         [&](std::string_view so_far) {
                           constexpr std::size_t kSome = 3;
                           if (!has_counted && signs_before_answer(dialect, so_far) >= kSome) {
                             has_counted = true;
                             ++patient;
                           }
                           return true;
                         })
          .body;
    }));
  }
  await_health(server, [&](const Json&) { return patient == kChatDialects.size(); });
  is_enough = true;
  for (std::size_t number = 0; number < waiting.size(); ++number) {
    const ChatDialect& dialect = kChatDialects.at(number);
    const std::string body = waiting.at(number).get();
    INFO(dialect.path << ": " << body);
    CHECK(dialect.text_in(body) == "Hi.");
    const auto parts = dialect.parts(body);
    CHECK(std::ranges::any_of(parts, [&](const Json& part) { return dialect.ends_answer(part); }));
  }
  holding.get();
}

TEST_CASE("JSON that is held back until it is valid is waited for with signs of life, and comes in one piece") {
  NamedModels models;
  add_own_models(models);
  LiveServer server(models.options({kEverySecond}));
  const std::string answer = Json{{"a", "w w w w w w w w w w w w w w w"}}.dump();
  const Json schema{{"type", "object"}, {"properties", {{"a", {{"type", "string"}}}}}, {"required", {"a"}}};
  const auto bodies = whole_streams(server, [&](const ChatDialect& dialect, std::size_t number) {
    return dialect.question_for_json(own_model(number), dictated(answer), schema);
  });
  CHECK(std::ranges::count(bodies, std::string()) == 1);  // /v1/completions
  for (std::size_t number = 0; number < bodies.size(); ++number) {
    const ChatDialect& dialect = kChatDialects.at(number);
    const std::string& body = bodies.at(number);
    if (body.empty()) continue;
    INFO(dialect.path << ": " << body);
    CHECK(signs_before_answer(dialect, body) > signs_at_once(dialect));
    const auto parts = dialect.parts(body);
    CHECK(std::ranges::count_if(parts, [&](const Json& part) { return !dialect.text_of(part).empty(); }) == 1);
    CHECK(dialect.text_in(body) == answer);
  }
}

TEST_CASE("a tool call that is held back until it is whole is waited for with signs of life") {
  NamedModels models;
  add_own_models(models);
  LiveServer server(models.options({kEverySecond}));
  const std::string arguments = Json{{"zone", "U U U U U U U U U U U U"}}.dump();
  const std::string call = "<tool_call>\n{\"name\": \"get_time\", \"arguments\": " + arguments + "}\n</tool_call>";
  const auto bodies = whole_streams(server, [&](const ChatDialect& dialect, std::size_t number) {
    return dialect.question_with_tool(own_model(number), dictated(call), "get_time");
  });
  CHECK(std::ranges::count(bodies, std::string()) == 2);  // that, and /api/generate
  for (std::size_t number = 0; number < bodies.size(); ++number) {
    const ChatDialect& dialect = kChatDialects.at(number);
    const std::string& body = bodies.at(number);
    if (body.empty()) continue;
    INFO(dialect.path << ": " << body);
    CHECK(signs_before_answer(dialect, body) > signs_at_once(dialect));
    CHECK(dialect.text_in(body).empty());
    CHECK_THAT(body, has_text("get_time") && has_text("U U U U U U U U U U U U"));
  }
}

}  // namespace rkllm_mcp::test
