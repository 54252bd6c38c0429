// A chat whose model's process is killed: nobody takes what there is of the answer for all of it, and the next one is
// served.
#include "clinic.hpp"
#include "named_models.hpp"
#include "support/catch.hpp"
#include "support/chat_dialect.hpp"
#include "support/http_client.hpp"
#include "support/live_server.hpp"

#include <signal.h>

#include <algorithm>
#include <chrono>
#include <future>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace rkllm_mcp::test {
namespace {

constexpr const char* kDoomed = "doomed";
constexpr const char* kDied = "killed by SIGKILL";

const std::string& counted_words() {
  static const std::string answer = [] {
    std::string text;
    for (int number = 0; number < 200; ++number) text += "word " + std::to_string(number) + " ";
    return text;
  }();
  return answer;
}

void kill_worker(const LiveServer& server) {
  const Json handles = await_health(server, [](const Json& all) { return all.size() == 1 && all[0]["running"]; });
  ::kill(handles[0]["process"].get<pid_t>(), SIGKILL);
}

// By all models together.
double generated_tokens(const LiveServer& server) {
  const std::string metrics = HttpClient(server.endpoint(Transport::kHttp)).get("/metrics").body;
  const std::string counter = "\nrkllm_mcp_tokens_total ";
  return std::stod(metrics.substr(metrics.find(counter) + counter.size()));
}

void await_generated(const LiveServer& server, double tokens) {
  const auto deadline = std::chrono::steady_clock::now() + Process::kPatience;
  while (generated_tokens(server) < tokens) {
    if (std::chrono::steady_clock::now() > deadline) throw std::runtime_error("there are too few tokens");
  }
}

// Nothing is left of what has happened.
void check_lives_again(const LiveServer& server, const ChatDialect& dialect) {
  HttpClient client(server.endpoint(Transport::kHttp));
  const HttpAnswer again = client.post(dialect.path, dialect.question(kDoomed, dictated("Here."), false).dump());
  INFO(again.body);
  CHECK(again.status == 200);
  CHECK(dialect.text_in(again.body) == "Here.");
}

}  // namespace

TEST_CASE("a stream whose worker is killed ends with its dialect's error, and the next request loads the model again",
          "[worker]") {
  NamedModels models;
  LiveServer server(models.add(kDoomed, {{"decode_tokens_per_s", 20}}).options({"runtime.isolation=process"}));
  for (const ChatDialect& dialect : kChatDialects) {
    CAPTURE(dialect.path);
    HttpClient client(server.endpoint(Transport::kHttp));
    bool is_killed = false;
    const std::string question = dialect.question(kDoomed, dictated(counted_words()), true).dump();
    const HttpAnswer answer = client.post_in_parts(dialect.path, question, [&](std::string_view so_far) {
      constexpr std::size_t kSomeText = 20;
      if (!is_killed && dialect.text_in(so_far).size() >= kSomeText) {
        is_killed = true;
        kill_worker(server);
      }
      return true;
    });
    INFO(answer.body);
    CHECK(answer.status == 200);
    REQUIRE(is_killed);
    const std::string text = dialect.text_in(answer.body);
    CHECK_FALSE(text.empty());
    CHECK(text.size() < counted_words().size());
    CHECK(counted_words().starts_with(text));
    const auto parts = dialect.parts(answer.body);
    CHECK(std::ranges::none_of(parts, [&](const Json& part) { return dialect.ends_answer(part); }));
    CHECK_THAT(dialect.error_in(parts.back()).value_or("no error"), has_text(kDied));
    check_lives_again(server, dialect);
  }
}

TEST_CASE("an answer whose worker is killed before it is sent is 500, and the next request loads the model again",
          "[worker]") {
  NamedModels models;
  LiveServer server(models.add(kDoomed, {{"decode_tokens_per_s", 20}}).options({"runtime.isolation=process"}));
  for (const ChatDialect& dialect : kChatDialects) {
    CAPTURE(dialect.path);
    const double tokens = generated_tokens(server);
    auto answering = std::async(std::launch::async, [&] {
      HttpClient client(server.endpoint(Transport::kHttp));
      return client.post(dialect.path, dialect.question(kDoomed, dictated(counted_words()), false).dump());
    });
    await_generated(server, tokens + 3);  // more than a warm-up of the answer before it
    kill_worker(server);
    const HttpAnswer answer = answering.get();
    INFO(answer.body);
    CHECK(answer.status == 500);
    CHECK_THAT(dialect.error_in(answer.json()).value_or("no error"), has_text(kDied));
    check_lives_again(server, dialect);
  }
}

TEST_CASE(
    "a stream whose model hangs ends with its dialect's error after runtime.hang_s, and other models answer meanwhile",
    "[worker]") {
  const auto name_of = [](const ChatDialect& dialect) { return "hangs_" + std::to_string(int(dialect.kind)); };
  NamedModels models;
  for (const ChatDialect& dialect : kChatDialects) {
    models.add(name_of(dialect), {{"faults", {{{"when", 3}, {"what", "hang"}}}}});
  }
  models.add("lives", Json::object());
  LiveServer server(models.options({"runtime.isolation=process", "runtime.hang_s=5"}));
  std::vector<std::future<HttpAnswer>> answers;
  for (const ChatDialect& dialect : kChatDialects) {
    answers.push_back(std::async(std::launch::async, [&server, &dialect, name = name_of(dialect)] {
      HttpClient client(server.endpoint(Transport::kHttp));
      return client.post(dialect.path, dialect.question(name, dictated(counted_words()), true).dump());
    }));
  }
  HttpClient client(server.endpoint(Transport::kHttp));
  for (std::size_t i = 0; i < kChatDialects.size(); ++i) {
    const ChatDialect& dialect = kChatDialects.at(i);
    CAPTURE(dialect.path);
    CHECK(dialect.text_in(client.post(dialect.path, dialect.question("lives", dictated("Here."), false).dump()).body) ==
          "Here.");
    const HttpAnswer answer = answers.at(i).get();
    INFO(answer.body);
    CHECK(answer.status == 200);
    CHECK(counted_words().starts_with(dialect.text_in(answer.body)));
    const auto parts = dialect.parts(answer.body);
    REQUIRE_FALSE(parts.empty());
    CHECK(std::ranges::none_of(parts, [&](const Json& part) { return dialect.ends_answer(part); }));
    CHECK_THAT(dialect.error_in(parts.back()).value_or("no error"), has_text("no sign of life for 5 s"));
  }
}

TEST_CASE("who waits behind an answer whose worker is killed is answered by the model that is loaded again",
          "[worker]") {
  NamedModels models;
  LiveServer server(models.add(kDoomed, {{"decode_tokens_per_s", 20}}).options({"runtime.isolation=process"}));
  const ChatDialect& dialect = kChatDialects.front();
  const auto ask = [&](const std::string& text) {
    return std::async(std::launch::async, [&, text] {
      HttpClient client(server.endpoint(Transport::kHttp));
      return client.post(dialect.path, dialect.question(kDoomed, dictated(text), false).dump());
    });
  };
  auto killed = ask(counted_words());
  await_generated(server, 1);
  auto behind = ask("At last.");
  await_health(server, [](const Json& all) { return all.size() == 1 && all[0]["queued"] == 1; });
  kill_worker(server);
  CHECK(killed.get().status == 500);
  const HttpAnswer answer = behind.get();
  INFO(answer.body);
  CHECK(answer.status == 200);
  CHECK(dialect.text_in(answer.body) == "At last.");
}

TEST_CASE("an answer of a profile whose worker is killed is an error, is not kept, and leaves the conversation free",
          "[worker]") {
  NamedModels models;
  models.add(kDoomed, {{"decode_tokens_per_s", 100}, {"max_context_len", 16384}});
  Clinic clinic(web_answer(kPage),
                {"models=" + settings_of_model(models.path_of(kDoomed)), "runtime.isolation=process"});
  const ChatDialect& dialect = kChatDialects.front();
  Json body = dialect.question(kAssistant, asked(kQuestion, Json{"CÓ", counted_words()}), true);
  body["chat_id"] = "killed";
  bool is_killed = false;
  const HttpAnswer answer = clinic.http.post_in_parts(dialect.path, body.dump(), [&](std::string_view so_far) {
    if (is_killed || dialect.text_in(so_far).empty()) return true;
    is_killed = true;
    kill_worker(clinic.server);
    return true;
  });
  REQUIRE(is_killed);
  INFO(answer.body);
  const auto parts = dialect.parts(answer.body);
  CHECK(std::ranges::none_of(parts, [&](const Json& part) { return dialect.ends_answer(part); }));
  CHECK_THAT(dialect.error_in(parts.back()).value_or("no error"), has_text(kDied));
  CHECK(clinic.memory("get_all_messages", "killed")["messages"].empty());
  const Json again = clinic.ask(asked(kQuestion, Json{"CÓ", kAnswer, "Summed up."}), "killed");
  CHECK(again["choices"][0]["message"]["content"] == kAnswer);
}

TEST_CASE("embeddings whose worker is killed are an error, and the next ones load the model again", "[worker]") {
  NamedModels models;
  LiveServer server(models.add(kDoomed, {{"prefill_tokens_per_s", 100}}).options({"runtime.isolation=process"}));
  for (const std::string path : {"/v1/embeddings", "/api/embed"}) {
    CAPTURE(path);
    const auto embed = [&server, path](const std::string& text) {
      return HttpClient(server.endpoint(Transport::kHttp)).post(path, Json{{"model", kDoomed}, {"input", text}}.dump());
    };
    auto killed = std::async(std::launch::async, [&] { return embed(counted_words()); });
    kill_worker(server);
    const HttpAnswer answer = killed.get();
    INFO(answer.body);
    CHECK(answer.status == 500);
    CHECK_THAT(answer.body, has_text(kDied));
    const HttpAnswer again = embed("cat");
    INFO(again.body);
    CHECK(again.status == 200);
  }
}

}  // namespace rkllm_mcp::test
