#include "chat/http/visit.hpp"

#include "runtime/kept_answer.hpp"
#include "support/catch.hpp"

#include <rkllm_mcp/errors.hpp>

#include <asio/io_context.hpp>

#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

using namespace rkllm_mcp;
using namespace rkllm_mcp::chat;

namespace {

http::Request request_at(const std::string& path, const http::Headers& headers = {}) {
  http::Request request;
  request.method = "POST";
  request.path = path;
  request.headers = headers;
  request.remote = "192.0.2.7:4000";
  return request;
}

struct AnsweredVisit {
  explicit AnsweredVisit(const http::Request& request) : visit(loop, rules, request, *answered, MemoryShare()) {
    rules.report = [this](const ChatNote& note) { notes.push_back(note); };
  }
  explicit AnsweredVisit(const std::string& path) : AnsweredVisit(request_at(path)) {}

  const http::Response& answer() const { return answered->answer.value(); }
  Json body() const { return Json::parse(answer().body); }

  asio::io_context loop;
  Visit::Rules rules;
  std::vector<ChatNote> notes;
  std::shared_ptr<test::KeptAnswer> answered = std::make_shared<test::KeptAnswer>();
  Visit visit;
};

}  // namespace

TEST_CASE("what clients make of a base address with /v1 or a slash at its end is forgiven") {
  CHECK(corrected_path("/v1/models") == "/v1/models");
  CHECK(corrected_path("/v1/v1/models") == "/v1/models");
  CHECK(corrected_path("/v1//models") == "/v1/models");
  CHECK(corrected_path("//api///tags/") == "/api/tags");
  CHECK(corrected_path("/v1/models/") == "/v1/models");
  CHECK(corrected_path("/") == "/");
  CHECK(corrected_path("//") == "/");
  CHECK(corrected_path("").empty());
  CHECK(corrected_path("/v1/v1/v1/models") == "/v1/v1/models");  // once
  CHECK(corrected_path("/v1/v10/models") == "/v1/v10/models");
}

TEST_CASE("a path says whose words its client speaks, and for lists of models a header does") {
  const auto surface = [](const std::string& path, const http::Headers& headers = {}) {
    return surface_of(request_at(path, headers), path);
  };
  const http::Headers anthropic{{"Anthropic-Version", "2023-06-01"}};
  CHECK(surface("/") == Surface::kOllama);
  CHECK(surface("/api/chat") == Surface::kOllama);
  CHECK(surface("/v1/chat/completions") == Surface::kOpenAi);
  CHECK(surface("/v1/messages") == Surface::kAnthropic);
  CHECK(surface("/v1/messages/count_tokens") == Surface::kAnthropic);
  CHECK(surface("/tokenize") == Surface::kOpenAi);
  CHECK(surface("/v1/models") == Surface::kOpenAi);
  CHECK(surface("/v1/models", anthropic) == Surface::kAnthropic);
  CHECK(surface("/v1/models/qwen", anthropic) == Surface::kAnthropic);
  CHECK(surface("/v1/chat/completions", anthropic) == Surface::kOpenAi);
}

TEST_CASE("a visit knows from the request's headers which conversation it goes on with, and whether it is a task") {
  const AnsweredVisit plain("/v1/chat/completions");
  CHECK(plain.visit.conversation.id.empty());
  CHECK_FALSE(plain.visit.is_task);
  CHECK(plain.visit.request_id.starts_with("req_"));
  CHECK(plain.visit.peer == "192.0.2.7:4000");

  const AnsweredVisit open_webui(
      request_at("/v1/chat/completions", {{"X-OpenWebUI-Chat-Id", "c-1"}, {"X-OpenWebUI-Task", "title_generation"}}));
  CHECK(open_webui.visit.conversation.name == "X-OpenWebUI-Chat-Id");
  CHECK(open_webui.visit.conversation.id == "c-1");
  CHECK(open_webui.visit.is_task);

  const AnsweredVisit both(
      request_at("/v1/chat/completions", {{"X-OpenWebUI-Chat-Id", "c-1"}, {"X-Conversation-Id", "c-2"}}));
  CHECK(both.visit.conversation.id == "c-2");
  const AnsweredVisit no_task(request_at("/v1/chat/completions", {{"X-OpenWebUI-Task", "no such task"}}));
  CHECK_FALSE(no_task.visit.is_task);
}

TEST_CASE("a header that names a conversation by what is no UTF-8 is refused by its name") {
  for (const char* const name : {"X-Conversation-Id", "X-OpenWebUI-Chat-Id"}) {
    const AnsweredVisit wrong(request_at("/v1/chat/completions", {{name, "caf\xe9"}}));
    try {
      wrong.visit.check_conversation();
      FAIL("it is taken");
    } catch (const TurnError& error) {
      CHECK(error.kind() == ErrorKind::kBadField);
      CHECK_THAT(error.what(), test::has_text(name) && test::has_text("expected UTF-8"));
    }
    AnsweredVisit(request_at("/v1/chat/completions", {{name, "caf\xc3\xa9"}})).visit.check_conversation();
  }
  AnsweredVisit("/v1/chat/completions").visit.check_conversation();
}

TEST_CASE("an answer is JSON that nobody stores, with the request's id, and is noted") {
  AnsweredVisit made("/v1//models");
  made.visit.asker.name = "ada";
  made.visit.answer({{"a", 1}}, {{"x-more", "yes"}});
  CHECK(made.answer().status == 200);
  CHECK(made.answer().content_type == "application/json");
  CHECK(made.body() == Json{{"a", 1}});
  CHECK(made.answer().headers.find("x-request-id") == made.visit.request_id);
  CHECK(made.answer().headers.find("Cache-Control") == "no-store");
  CHECK(made.answer().headers.find("x-more") == "yes");
  CHECK_FALSE(made.answer().headers.find("x-rkllm-simulated"));
  REQUIRE(made.notes.size() == 1);
  CHECK(made.notes[0].status == 200);
  CHECK(made.notes[0].path == "/v1/models");
  CHECK(made.notes[0].peer == "192.0.2.7:4000");
  CHECK(made.notes[0].asker == "ada");
  CHECK(made.notes[0].request_id == made.visit.request_id);
}

TEST_CASE("where the runtime is simulated every answer says so") {
  AnsweredVisit made("/v1/models");
  made.rules.is_simulated = [] { return true; };
  made.visit.answer(Json::object());
  CHECK(made.answer().headers.find("x-rkllm-simulated") == "true");
}

TEST_CASE("an answer that nobody notes is given all the same") {
  AnsweredVisit made("/v1/models");
  made.rules.report = nullptr;
  made.visit.answer(Json::object());
  CHECK(made.answer().status == 200);
}

TEST_CASE("a long answer is refused where it is longer than answers may be, or than there is memory for") {
  AnsweredVisit fits("/v1/embeddings");
  fits.rules.most_reply_bytes = 4;
  fits.answered->room = 4;
  fits.visit.answer_long_text("[12]", "input", {});
  CHECK(fits.answer().body == "[12]");

  AnsweredVisit long_one("/v1/embeddings");
  long_one.rules.most_reply_bytes = 3;
  long_one.visit.answer_long_text("[12]", "input", {});
  CHECK(long_one.answer().status == 400);
  CHECK(long_one.body()["error"]["param"] == "input");
  CHECK_THAT(long_one.answer().body, test::has_text("limits.max_reply_bytes"));

  AnsweredVisit no_room("/v1/embeddings");
  no_room.answered->room = 3;
  no_room.visit.answer_long_text("[12]", "input", {});
  CHECK(no_room.answer().status == 400);
}

TEST_CASE("what an action throws is the answer, in the words that the path's clients read") {
  AnsweredVisit turn("/v1/chat/completions");
  turn.visit.or_refuse([] { throw TurnError(ErrorKind::kForbidden, "not you"); });
  CHECK(turn.answer().status == 403);
  CHECK(turn.body()["error"]["message"] == "not you");
  CHECK(turn.notes.at(0).status == 403);

  AnsweredVisit call("/v1/messages");
  call.visit.or_refuse([] { throw RpcError(ErrorCode::kInvalidParams, "no such field"); });
  CHECK(call.answer().status == 400);
  CHECK(call.body()["type"] == "error");
  CHECK_THAT(call.body()["error"]["message"].get<std::string>(), test::has_text("no such field"));

  AnsweredVisit nothing("/api/chat");
  nothing.visit.or_refuse([] {});
  CHECK_FALSE(nothing.answered->answer);
  CHECK(nothing.notes.empty());
}

TEST_CASE("a fault in an action is answered without its words, and goes on to be reported by the loop") {
  AnsweredVisit made("/v1/chat/completions");
  made.visit.or_refuse([] { throw std::runtime_error("secret"); });
  CHECK(made.answer().status == 500);
  CHECK_THAT(made.answer().body, !test::has_text("secret"));
  CHECK_THROWS_WITH(made.loop.run(), "secret");
}

TEST_CASE("fields that were not looked at are told in a header, if there were any") {
  CHECK(ignored_fields({}).size() == 0);
  const http::Headers headers = ignored_fields({"seed", "user"});
  CHECK(headers.size() == 1);
  CHECK_THAT(std::string(headers.find("x-rkllm-ignored").value_or("")), test::has_text("seed"));
  CHECK_THAT(std::string(headers.find("x-rkllm-ignored").value_or("")), test::has_text("user"));
}
