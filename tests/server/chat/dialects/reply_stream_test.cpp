// What the dialects share for their replies. What each stream of a dialect promises is in
// reply_stream_contract_test.cpp.
#include "chat/dialects/reply_stream.hpp"

#include "support/catch.hpp"

#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

using namespace rkllm_mcp;
using namespace rkllm_mcp::chat;

namespace {

// A dialect that says nothing but what could not be honoured.
class StreamOfNotices final : public ReplyStream {
 public:
  std::string event(const AnswerEvent& /*event*/, std::size_t /*answer*/) override { return ""; }
  std::string heartbeat() override { return ""; }
  std::string end(const AnswerEnd& /*end*/, std::size_t /*answer*/) override { return notices_member(); }
  std::string finish(const Usage& /*sum*/) override { return notices().dump(); }
  std::string error(const TurnError& /*error*/) override { return ""; }
};

}  // namespace

TEST_CASE("what could not be honoured is told, and nothing where all was") {
  StreamOfNotices stream;
  CHECK(stream.end({}, 0).empty());
  CHECK(stream.finish({}) == "null");
  stream.begun({});
  CHECK(stream.end({}, 0).empty());
  stream.begun({.ignored = {"top_k", "n"}, .dropped_messages = 2, .search_failed = true});
  CHECK(stream.end({}, 0) == R"(,"rkllm":{"ignored":["top_k","n"],"dropped_messages":2,"search":"failed"})");
  stream.begun({.dropped_messages = 1});
  CHECK(stream.finish({}) == R"({"dropped_messages":1})");
}

TEST_CASE("a message of an event stream has its name, its data and an empty line") {
  CHECK(sse_data("{}") == "data: {}\n\n");
  CHECK(sse_data("") == "data: \n\n");
  CHECK(sse_event("ping", "{}") == "event: ping\ndata: {}\n\n");
  CHECK(StreamOfNotices().content_type() == "text/event-stream");
}

TEST_CASE("a number that is not known is null") {
  CHECK(number_or_null(std::nullopt).is_null());
  CHECK(number_or_null(0) == 0);
  CHECK(number_or_null(std::numeric_limits<std::int64_t>::max()).dump() == "9223372036854775807");
}

TEST_CASE("every kind of error has its status") {
  const std::vector<std::pair<ErrorKind, int>> statuses{
      {ErrorKind::kUnknownModel, 404},  {ErrorKind::kNotKept, 404},  {ErrorKind::kContext, 400},
      {ErrorKind::kBadField, 400},      {ErrorKind::kTooLarge, 413}, {ErrorKind::kNotSupported, 400},
      {ErrorKind::kQueueFull, 503},     {ErrorKind::kNoRoom, 503},   {ErrorKind::kUnauthorized, 401},
      {ErrorKind::kForbidden, 403},     {ErrorKind::kUpstream, 502}, {ErrorKind::kInvalidAnswer, 422},
      {ErrorKind::kRuntimeFailed, 500}, {ErrorKind::kInternal, 500}};
  for (const auto& [kind, status] : statuses) CHECK(http_status(kind) == status);
}

TEST_CASE("when a try again may be worth it is told where that is known") {
  CHECK(retry_after(TurnError::try_later(ErrorKind::kQueueFull, "full", 7)) == "7");
  CHECK(retry_after(TurnError::try_later(ErrorKind::kNoRoom, "full", 0)) == "0");
  CHECK(retry_after(TurnError(ErrorKind::kQueueFull, "full")).empty());
}
