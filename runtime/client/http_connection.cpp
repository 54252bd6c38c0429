#include "client/http_connection.hpp"

#include "client/http_client.hpp"

#include <httplib.h>

#include <algorithm>
#include <chrono>
#include <utility>

namespace rkllm_mcp::client {
namespace {

constexpr std::chrono::milliseconds kLongestPoll{10'000};
constexpr std::chrono::hours kReplyPatience{1};  // one answer of rkllm_run may take long; the server bounds it

// A poll that found nothing. (A token without text of its own is something, if its id was asked for.)
bool is_empty_chunk(const Json& chunk) {
  return chunk.is_object() && chunk.value("delta", "") == "" && !chunk.value("end", false) &&
         !chunk.contains("token_id") && !chunk.contains("token_ids");
}

}  // namespace

HttpConnection::HttpConnection(const Endpoint& endpoint, Deadline deadline)
    : client_(make_http_client(endpoint, {.connect = std::chrono::ceil<std::chrono::milliseconds>(
                                              deadline - std::chrono::steady_clock::now()),
                                          .read = kReplyPatience})),
      path_(endpoint.path),
      where_(endpoint.authority()) {}

HttpConnection::~HttpConnection() = default;

std::string HttpConnection::post(std::string_view message) {
  auto response = client_->Post(path_.c_str(), std::string(message), "application/json");
  if (!response) throw ConnectionError(where_ + ": " + complaint_of(response.error()));
  if (!response->body.empty() && !Json::accept(response->body)) {
    throw ConnectionError(where_ + path_ + ": HTTP status " + std::to_string(response->status) + ", and not JSON");
  }
  return std::move(response->body);
}

void HttpConnection::send(std::string_view message) { keep(post(message)); }

// Hands a reply on unless it says nothing, and notes the stream that it opens or leaves open.
void HttpConnection::keep(std::string reply) {
  if (reply.empty()) return;
  const Json message = Json::parse(reply);
  const Json* result = message.is_object() && message.contains("result") ? &message["result"] : nullptr;
  if (result != nullptr && result->is_object() && result->contains("stream_id")) {
    streams_.push_back({message.value("id", Json()), (*result)["stream_id"]});
  }
  replies_.push_back(std::move(reply));
}

std::optional<std::string> HttpConnection::receive(Deadline deadline) {
  for (;;) {
    if (!replies_.empty()) {
      std::string reply = std::move(replies_.front());
      replies_.pop_front();
      return reply;
    }
    const auto left = std::chrono::floor<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
    if (streams_.empty() || left.count() <= 0) return std::nullopt;

    const Stream stream = std::move(streams_.front());
    streams_.pop_front();
    const auto wait = std::min(left, kLongestPoll);
    const Json poll = {{"jsonrpc", "2.0"},
                       {"id", stream.id},
                       {"method", "poll"},
                       {"params", {{"stream_id", stream.stream_id}, {"wait_ms", wait.count()}}}};
    std::string reply = post(poll.dump());
    const Json message = reply.empty() ? Json() : Json::parse(reply);
    const Json chunk = message.is_object() ? message.value("result", Json::object()).value("chunk", Json()) : Json();
    const bool ended = !chunk.is_object() || chunk.value("end", false);
    if (!ended) streams_.push_back(stream);
    if (!is_empty_chunk(chunk)) replies_.push_back(std::move(reply));
  }
}

}  // namespace rkllm_mcp::client
