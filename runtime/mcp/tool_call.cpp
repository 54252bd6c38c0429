#include "mcp/tool_call.hpp"

#include "call/result_options.hpp"
#include "jsonrpc/envelope.hpp"
#include "jsonrpc/failure.hpp"
#include "mcp/progress.hpp"

#include <string>
#include <utility>

namespace rkllm_mcp {
namespace {

Json text_block(std::string text) { return Json{{"type", "text"}, {"text", std::move(text)}}; }

Json tool_result(const Method& method, const Collected& collected) {
  Json structured = method.streams ? answer_of(collected) : collected.outcome.result;
  std::string text = method.streams ? structured["text"].get<std::string>() : to_text(structured);
  return Json{{"content", Json::array({text_block(std::move(text))})}, {"structuredContent", std::move(structured)}};
}

ProgressMessage take_progress_message(Json& arguments) {
  const auto choice = take_member(arguments, "progress_message");
  if (!choice) return ProgressMessage::kStatus;
  if (*choice == "status") return ProgressMessage::kStatus;
  if (*choice == "delta") return ProgressMessage::kDelta;
  if (*choice == "text") return ProgressMessage::kText;
  throw InvalidParams("params.progress_message", "expected \"status\", \"delta\" or \"text\"");
}

void start(asio::io_context& loop, Caller& caller, ToolCall& call, const std::shared_ptr<Session>& session,
           const std::shared_ptr<Reply>& reply) {
  const Method& method = call.method;
  const auto message = method.streams ? take_progress_message(call.arguments) : ProgressMessage::kStatus;
  Caller::Target target{&method, {}, take_result_options(method, call.arguments)};
  target.params = std::move(call.arguments);

  std::shared_ptr<Progress> progress;
  CollectReader::ProgressFunction on_progress;
  if (!call.progress_token.is_null()) {
    progress = Progress::start(loop, reply, std::move(call.progress_token), message);
    on_progress = [progress](const CollectReader::Step& step) { progress->update(step); };
  }
  const auto done = [reply, progress, &method](const Collected& collected) {
    if (progress) progress->stop();
    reply->result(collected.outcome.error ? tool_error(as_rpc_error(collected.outcome.error))
                                          : tool_result(method, collected));
  };
  // A legacy HTTP client that disconnects has not cancelled: that takes notifications/cancelled.
  const bool over_http = reply->peer().transport() == TransportKind::kHttp;
  caller.collect(session, reply, std::move(target), done, std::move(on_progress),
                 {.answers = false, .outlives_exchange = over_http});
}

}  // namespace

Json tool_error(const RpcError& error) {
  const Json details{{"code", static_cast<int>(error.code())}, {"data", error.data()}};
  return Json{{"content", Json::array({text_block(error.what()), text_block(to_text(details))})}, {"isError", true}};
}

void start_tool_call(asio::io_context& loop, Caller& caller, ToolCall call, const std::shared_ptr<Session>& session,
                     const std::shared_ptr<Reply>& reply) {
  try {
    Caller::permit(*session, call.method);
    caller.admit(*session, reply->id(), false);
    start(loop, caller, call, session, reply);
  } catch (const RpcError& error) {
    if (error.code() == ErrorCode::kInvalidRequest) throw;  // an id that is in use
    reply->result(tool_error(error));
  }
}

}  // namespace rkllm_mcp
