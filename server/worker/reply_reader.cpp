#include "worker/reply_reader.hpp"

#include "jsonrpc/bounded_json.hpp"

#include <rkllm_mcp/errors.hpp>

#include <exception>
#include <string_view>
#include <utility>

namespace rkllm_mcp {
namespace {

RpcError to_error(const Json& error) {
  Json data = error.value("data", Json());
  if (!data.is_object() && !data.is_null()) throw BadFrame("an error whose data is no object");
  return {static_cast<ErrorCode>(error.value("code", static_cast<int>(ErrorCode::kInternalError))),
          error.value("message", std::string("the worker gave no reason")), std::move(data)};
}

}  // namespace

std::optional<ReplyReader::End> ReplyReader::take(const Frame& frame) {
  if (frame.head.call != call_) throw BadFrame("a frame of another call");
  if (frame.head.type == FrameType::kEnd) {
    if (!rows_.are_whole()) throw BadFrame("an end before that of its rows");
    if (!end_.add(frame)) return std::nullopt;
    return read_end(end_.take());
  }
  if (frame.head.type == FrameType::kTokens) {
    take_tokens(frame);
    while (const auto token = next_token()) run_->observer.on_token(token->batch, token->text, token->id);
  } else if (frame.head.type == FrameType::kRows && run_ != nullptr) {
    rows_.add(frame, [this](const FloatRows& whole) { run_->observer.on_rows(whole); });
  } else {
    throw BadFrame(run_ == nullptr ? "rows of a call that is no run" : "a frame that is for workers");
  }
  stop_if_wanted();
  return std::nullopt;
}

void ReplyReader::take_tokens(const Frame& frame) {
  if (frame.head.call != call_) throw BadFrame("a frame of another call");
  if (run_ == nullptr) throw BadFrame("tokens of a call that is no run");
  tokens_ = frame.content;
}

std::optional<TokenRecord> ReplyReader::next_token() {
  if (tokens_.empty()) return std::nullopt;
  const TokenRecord token = take_token(tokens_);
  if (token.batch >= run_->entries) throw BadFrame("a token of an entry that the batch has not");
  return token;
}

void ReplyReader::stop_if_wanted() {
  if (!stopped_ && run_->observer.wants_to_stop()) stopped_ = run_->stop();
}

ReplyReader::End ReplyReader::read_end(const std::string& text) {
  auto read = parse_bounded(text);
  if (!read || !read->is_object()) throw BadFrame("an end that is no JSON object");
  Json& json = *read;
  End end;
  try {
    end.loaded = json.value("loaded", false);
    if (const auto known = json.find("handle_values"); known != json.end()) {
      Model::Values& values = end.handle_values.emplace();
      for (const auto& [name, value] : known->items()) values[name] = value.get<std::int64_t>();
    }
    end.outcome.state = json.value("state", std::string());
    end.outcome.aborted = json.value("aborted", false);
    if (const auto values = json.find("values"); values != json.end()) end.outcome.values = std::move(*values);
    if (const auto result = json.find("result"); result != json.end()) end.outcome.result = std::move(*result);
    if (const auto error = json.find("error"); error != json.end()) {
      end.outcome.error = std::make_exception_ptr(to_error(*error));
    }
  } catch (const Json::exception& error) {
    throw BadFrame(error.what());
  }
  return end;
}

}  // namespace rkllm_mcp
