#include "client/http/plain_http_connection.hpp"

#include "clock.hpp"
#include "json_members.hpp"
#include "jsonrpc/bounded_json.hpp"

#include <rkllm_mcp/errors.hpp>

#include <algorithm>
#include <chrono>
#include <thread>
#include <utility>

namespace rkllm_mcp::client {
namespace {

constexpr std::chrono::milliseconds kLongestPoll{10'000};

// A poll that found nothing. (A token without text of its own is something, if its id was asked for.)
bool is_empty_chunk(const Json& chunk) {
  return chunk.is_object() && chunk.value("delta", "").empty() && !chunk.value("end", false) &&
         !chunk.contains("token_id") && !chunk.contains("token_ids");
}

// How long to wait before a stream is asked for again that a server had no memory for.
constexpr std::chrono::milliseconds kBetweenRefusedPolls{100};

// What a poll's answer says of its stream.
enum class Polled {
  kGoesOn,   // a chunk which is not the last, or a place in a queue
  kRefused,  // error 4004: there was no memory for the answer, or the call has ended so. The next poll tells
  kForgotten,
  kEnd,
};

Polled polled(const Json& message) {
  if (const Json* const error = given_in(message, "error")) {
    const Json* const code = member_of(*error, "code");
    if (code != nullptr && *code == static_cast<int>(ErrorCode::kQueueFull)) return Polled::kRefused;
    return code != nullptr && *code == static_cast<int>(ErrorCode::kStreamNotFound) ? Polled::kForgotten : Polled::kEnd;
  }
  const Json* const result = member_of(message, "result");
  if (result == nullptr) return Polled::kEnd;  // no answer that is known here
  const Json* const chunk = member_of(*result, "chunk");
  if (chunk == nullptr) return member_of(*result, "queue_position") != nullptr ? Polled::kGoesOn : Polled::kEnd;
  return chunk->is_object() && !chunk->value("end", false) ? Polled::kGoesOn : Polled::kEnd;
}

}  // namespace

PlainHttpConnection::PlainHttpConnection(const Endpoint& endpoint, Clock::time_point deadline)
    : trip_(endpoint, {.connect = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now()),
                       .read = kAnswerPatience}),
      path_(endpoint.path),
      where_(endpoint.authority()) {}

std::optional<PlainHttpConnection::Reply> PlainHttpConnection::post(std::string_view message) {
  int status = 0;
  std::string body;
  const auto end = trip_.run(
      {"POST", path_, {}, std::string(message)},
      [&status](const HttpHead& head) {
        status = head.status;
        return true;
      },
      [&body](std::string_view bytes) {
        body += bytes;
        return body.size() <= kLongestMessage;
      });
  if (end == HttpRoundTrip::End::kStopped) throw ConnectionError(where_ + ": " + kTooLong);
  trip_.require_reachable(where_);
  if (end != HttpRoundTrip::End::kComplete) throw ConnectionError(where_ + ": " + trip_.complaint());
  if (body.empty()) return std::nullopt;
  auto json = parse_bounded(body);
  if (!json) {
    throw ConnectionError(where_ + path_ + ": HTTP status " + std::to_string(status) + ", and not JSON");
  }
  return Reply{std::move(body), *std::move(json)};
}

void PlainHttpConnection::send(std::string_view message) {
  if (auto reply = post(message)) keep(*std::move(reply));
}

// Hands a reply on, and notes the stream that it opens or leaves open.
void PlainHttpConnection::keep(Reply reply) {
  const Json& message = reply.message;
  const Json* result = message.is_object() && message.contains("result") ? &message["result"] : nullptr;
  if (result != nullptr && result->is_object() && result->contains("stream_id")) {
    streams_.push_back({message.value("id", Json()), (*result)["stream_id"], {}});
  }
  replies_.push_back(std::move(reply.text));
}

std::optional<std::string> PlainHttpConnection::receive(Clock::time_point deadline) {
  for (;;) {
    if (!replies_.empty()) {
      std::string reply = std::move(replies_.front());
      replies_.pop_front();
      return reply;
    }
    const auto left = std::chrono::floor<std::chrono::milliseconds>(deadline - Clock::now());
    if (streams_.empty() || left.count() <= 0) return std::nullopt;

    Stream stream = std::move(streams_.front());
    streams_.pop_front();
    const auto wait = std::min(left, kLongestPoll);
    const Json poll = {{"jsonrpc", "2.0"},
                       {"id", stream.id},
                       {"method", "poll"},
                       {"params", {{"stream_id", stream.stream_id}, {"wait_ms", wait.count()}}}};
    auto reply = post(poll.dump());
    if (!reply) continue;  // no answer to a request: there is nothing more to be had
    const Polled said = polled(reply->message);
    if (said == Polled::kRefused) {
      stream.refusal = std::move(reply->text);
      streams_.push_back(std::move(stream));
      std::this_thread::sleep_for(std::min(left, kBetweenRefusedPolls));
      continue;
    }
    if (said == Polled::kForgotten && !stream.refusal.empty()) {  // the refusal was the end
      replies_.push_back(std::move(stream.refusal));
      continue;
    }
    if (said == Polled::kGoesOn) {
      stream.refusal.clear();
      streams_.push_back(std::move(stream));
    }
    const Json* const result = member_of(reply->message, "result");
    const Json* const chunk = result == nullptr ? nullptr : member_of(*result, "chunk");
    if (chunk == nullptr || !is_empty_chunk(*chunk)) replies_.push_back(std::move(reply->text));
  }
}

}  // namespace rkllm_mcp::client
