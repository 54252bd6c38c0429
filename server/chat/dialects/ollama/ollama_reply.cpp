#include "chat/dialects/ollama/ollama_reply.hpp"
#include "jsonrpc/bounded_json.hpp"
#include "jsonrpc/unread.hpp"

#include <cstdint>
#include <utility>

namespace rkllm_mcp::chat {
namespace {

std::string_view ollama_reason(Finish finish) {
  switch (finish) {
    case Finish::kLength: return "length";
    case Finish::kStop:
    case Finish::kStopString:
    case Finish::kToolCalls:
    case Finish::kContentFilter: return "stop";
  }
  return "stop";
}

// The beginning of every line, with this piece of the answer.
Json ollama_line(OllamaSurface surface, const ReplyFacts& facts, const Answer& piece) {
  Json line = {{"model", facts.model}, {"created_at", facts.created_iso}};
  Json calls = Json::array();
  for (const ToolCall& call : piece.calls) {
    const auto arguments = parse_bounded(call.arguments);
    calls.push_back({{"function", {{"name", call.name}, {"arguments", arguments.value_or(Json::object())}}}});
  }
  Json message = Json::object();
  if (surface == OllamaSurface::kChat)
    message = {{"role", "assistant"}, {"content", piece.text}};
  else
    message["response"] = piece.text;
  if (!piece.thinking.empty()) message["thinking"] = piece.thinking;
  if (!calls.empty()) message["tool_calls"] = std::move(calls);
  if (surface == OllamaSurface::kChat)
    line["message"] = std::move(message);
  else
    line.update(message);
  return line;
}

void add_end(Json& line, const AnswerEnd& end) {
  const auto add_time = [&line](const char* name, std::optional<double> ms) {
    constexpr double kNanosecondsPerMs = 1e6;
    if (ms) line[name] = static_cast<std::int64_t>(*ms * kNanosecondsPerMs);
  };
  line["done"] = true;
  line["done_reason"] = ollama_reason(end.finish);
  // What is not known is left out, as Ollama itself does.
  add_time("total_duration", end.timings.total_ms);
  add_time("load_duration", end.timings.load_ms);
  if (end.usage.prompt) line["prompt_eval_count"] = *end.usage.prompt;
  add_time("prompt_eval_duration", end.timings.prefill_ms);
  if (end.usage.generated) line["eval_count"] = *end.usage.generated;
  add_time("eval_duration", end.timings.generate_ms);
}

}  // namespace

Json ollama_error(const TurnError& error) { return {{"error", error.what()}}; }

ErrorReply ollama_error_reply(const TurnError& error) {
  return {http_status(error.kind()), to_text(ollama_error(error)), retry_after(error)};
}

std::string ollama_reply(OllamaSurface surface, const ReplyFacts& facts, const Answer& answer) {
  Json line = ollama_line(surface, facts, answer);
  add_end(line, answer.end);
  return to_text(line);
}

std::string ollama_load_reply(OllamaSurface surface, const ReplyFacts& facts, OllamaWish wish) {
  Json line = ollama_line(surface, facts, {});
  line["done"] = true;
  line["done_reason"] = wish == OllamaWish::kUnload ? "unload" : "load";
  return to_text(line);
}

OllamaStream::OllamaStream(OllamaSurface surface, ReplyFacts facts) : surface_(surface), facts_(std::move(facts)) {}

std::string OllamaStream::event(const AnswerEvent& event, std::size_t /*answer*/) {
  Answer piece;
  append(piece, event);
  return line_of(piece);
}

std::string OllamaStream::heartbeat() { return line_of({}); }

std::string OllamaStream::line_of(const Answer& piece) const {
  Json line = ollama_line(surface_, facts_, piece);
  line["done"] = false;
  return to_text(line) + "\n";
}

std::string OllamaStream::end(const AnswerEnd& end, std::size_t /*answer*/) {
  Json line = ollama_line(surface_, facts_, {});
  add_end(line, end);
  if (!notices().is_null()) line["rkllm"] = notices();
  return to_text(line) + "\n";
}

std::string OllamaStream::error(const TurnError& error) { return to_text(ollama_error(error)) + "\n"; }

}  // namespace rkllm_mcp::chat
