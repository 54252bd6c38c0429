#include "cli/answer_follower.hpp"

#include "support/catch.hpp"

using namespace rkllm_mcp;
using State = AnswerFollower::State;
using Delivery = AnswerFollower::Delivery;

namespace {

Json chunk(int id, int seq, const char* delta, bool end = false) {
  Json content = {{"seq", seq}, {"delta", delta}};
  if (end) content["end"] = true;
  return {{"jsonrpc", "2.0"}, {"id", id}, {"method", "rkllm_run_async"}, {"result", {{"chunk", content}}}};
}

}  // namespace

TEST_CASE("a single reply ends the call, and is text where it has text") {
  AnswerFollower run(1, Delivery::kReliable);
  CHECK(run.take({{"id", 1}, {"result", {{"status", 0}, {"text", "Hello"}}}}) == "Hello");
  CHECK(run.state() == State::kSucceeded);
  AnswerFollower other(1, Delivery::kReliable);
  CHECK(other.take({{"id", 1}, {"result", {{"status", 0}}}}) == R"({"status":0})");
  CHECK(other.state() == State::kSucceeded);
  AnswerFollower old(1, Delivery::kReliable);  // JSON-RPC 1.0 has both
  CHECK(old.take({{"id", 1}, {"result", {{"text", "Hello"}}}, {"error", nullptr}}) == "Hello");
}

TEST_CASE("that a call waits, and behind how many, is not its end") {
  AnswerFollower reader(1, Delivery::kReliable);
  CHECK(reader.take({{"id", 1}, {"result", {{"queue_position", 2}}}}).empty());
  CHECK(reader.take({{"id", 1}, {"result", {{"queue_position", 0}}}}).empty());
  CHECK(reader.state() == State::kOpen);
  CHECK(reader.take(chunk(1, 0, "Hello", true)) == "Hello");
  CHECK(reader.state() == State::kSucceeded);
}

TEST_CASE("chunks are joined until the one that says end") {
  AnswerFollower reader(1, Delivery::kReliable);
  CHECK(reader.take(chunk(1, 0, "Hel")) == "Hel");
  CHECK(reader.take(chunk(2, 0, "not ours")).empty());
  CHECK(reader.state() == State::kOpen);
  CHECK(reader.take(chunk(1, 1, "lo", true)) == "lo");
  CHECK(reader.state() == State::kSucceeded);
}

TEST_CASE("a stream_id is followed through notifications") {
  AnswerFollower reader(1, Delivery::kReliable);
  CHECK(reader.take({{"id", 1}, {"result", {{"stream_id", "abc"}}}}).empty());
  const auto announced = [](const char* stream, const char* delta, bool end) {
    return Json{{"method", "rkllm_run_async"},
                {"params", {{"stream_id", stream}, {"seq", 0}, {"delta", delta}, {"end", end}}}};
  };
  CHECK(reader.take(announced("other", "x", true)).empty());
  CHECK(reader.state() == State::kOpen);
  CHECK(reader.take(announced("abc", "Hi", false)) == "Hi");
  CHECK(reader.take(announced("abc", "", true)).empty());
  CHECK(reader.state() == State::kSucceeded);
}

TEST_CASE("an error with the request's id, or with none known, ends the call as failed") {
  for (const Json& id : {Json(1), Json(nullptr)}) {
    AnswerFollower reader(1, Delivery::kReliable);
    CHECK(reader.take({{"id", id}, {"error", {{"code", 4002}}}}).empty());
    CHECK(reader.state() == State::kFailed);
    CHECK(reader.error()["code"] == 4002);
  }
  AnswerFollower reader(1, Delivery::kReliable);
  reader.take({{"id", 2}, {"error", {{"code", 4002}}}});
  CHECK(reader.state() == State::kOpen);
}

TEST_CASE("a tool's result that is an error is a failure") {
  AnswerFollower reader(1, Delivery::kReliable);
  reader.take({{"id", 1}, {"result", {{"isError", true}, {"content", Json::array()}}}});
  CHECK(reader.state() == State::kFailed);
}

TEST_CASE("where messages get lost, a gap is noticed, asked for and closed, and copies are dropped") {
  AnswerFollower reader(1, Delivery::kUnreliable);
  CHECK_FALSE(reader.has_begun());
  CHECK(reader.take(chunk(1, 0, "a")) == "a");
  CHECK(reader.take(chunk(1, 2, "c")).empty());
  CHECK(reader.has_gap());
  CHECK(reader.recovery() == Json{{"jsonrpc", "2.0"}, {"id", 1}, {"method", "poll"}, {"params", {{"from_seq", 1}}}});
  CHECK(reader.take(chunk(1, 0, "a")).empty());
  CHECK(reader.take(chunk(1, 4, "e", true)).empty());
  CHECK(reader.take(chunk(1, 1, "b")) == "bc");
  CHECK(reader.has_gap());
  CHECK(reader.take(chunk(1, 2, "c")).empty());
  CHECK(reader.state() == State::kOpen);
  CHECK(reader.take(chunk(1, 3, "d")) == "de");
  CHECK_FALSE(reader.has_gap());
  CHECK(reader.state() == State::kSucceeded);
}

TEST_CASE("that chunks are gone is a failure only if they are still missing") {
  AnswerFollower reader(1, Delivery::kUnreliable);
  reader.take(chunk(1, 0, "a"));
  const auto gone = [](int seq) {
    return Json{{"id", 1}, {"error", {{"code", 4003}, {"data", {{"from_seq", seq}, {"first_seq", 9}}}}}};
  };
  CHECK(reader.take(gone(0)).empty());
  CHECK(reader.state() == State::kOpen);
  reader.take(gone(1));
  CHECK(reader.state() == State::kFailed);
}

TEST_CASE("announced chunks get lost and come out of order like others, and may end in an error") {
  AnswerFollower reader(1, Delivery::kUnreliable);
  reader.take({{"id", 1}, {"result", {{"stream_id", "abc"}}}});
  const auto announce = [&](Json params) {
    params["stream_id"] = "abc";
    return reader.take({{"method", "rkllm_run_async"}, {"params", params}});
  };
  CHECK(announce({{"seq", 1}, {"delta", "b"}, {"end", false}}).empty());
  CHECK(reader.has_gap());
  CHECK(announce({{"seq", 0}, {"delta", "a"}, {"end", false}}) == "ab");
  CHECK(announce({{"seq", 2}, {"delta", ""}, {"end", true}, {"error", {{"code", 4001}}}}).empty());
  CHECK(reader.state() == State::kFailed);
  CHECK(reader.error()["code"] == 4001);
}

TEST_CASE("a poll that found nothing new takes no place in the sequence") {
  AnswerFollower reader(1, Delivery::kUnreliable);
  CHECK(reader.take(chunk(1, 0, "")).empty());
  CHECK(reader.take(chunk(1, 0, "a")) == "a");
}

TEST_CASE("messages of any other shape are passed over") {
  AnswerFollower reader(1, Delivery::kReliable);
  for (const char* text : {"3", "null", "[]", "{}", R"({"id":1})", R"({"params":3})", R"({"id":2,"result":{}})",
                           R"({"method":"x","params":{"stream_id":null,"end":true}})"}) {
    CHECK(reader.take(Json::parse(text)).empty());
  }
  CHECK(reader.state() == State::kOpen);
}
