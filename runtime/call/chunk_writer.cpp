#include "call/chunk_writer.hpp"

#include "jsonrpc/envelope.hpp"
#include "text/json_text.hpp"

namespace rkllm_mcp {
namespace {

// The members of `object` as JSON text that can follow other members: ,"a":1,"b":2
std::string further_members(const Json& object) {
  if (object.empty()) return {};
  std::string text = to_text(object);
  text.front() = ',';
  text.pop_back();
  return text;
}

}  // namespace

Json ending_of(const CallOutcome& outcome) {
  Json ending = Json::object();
  if (!outcome.state.empty()) ending["state"] = outcome.state;
  if (outcome.result.is_object()) ending.update(outcome.result);
  if (outcome.values.is_object()) ending.update(outcome.values);
  if (outcome.aborted) ending["aborted"] = true;
  return ending;
}

ChunkWriter ChunkWriter::replies(const RequestId& id, std::string_view method) {
  ChunkWriter writer(Form::kReply, std::string(method));
  writer.closing_ = "}}}";
  writer.answer_as(id);
  return writer;
}

ChunkWriter ChunkWriter::notifications(std::string_view method, std::string_view stream_id) {
  ChunkWriter writer(Form::kNotification, std::string(method));
  writer.stream_id_ = stream_id;
  writer.opening_ = R"({"jsonrpc":"2.0","method":)";
  append_quoted(writer.opening_, method);
  writer.opening_ += R"(,"params":{"stream_id":)";
  append_quoted(writer.opening_, stream_id);
  writer.opening_ += R"(,"seq":)";
  writer.closing_ = R"(,"end":false}})";
  return writer;
}

void ChunkWriter::answer_as(const RequestId& id) {
  id_ = id;
  opening_ = R"({"jsonrpc":"2.0","id":)" + id + R"(,"method":)";
  append_quoted(opening_, method_);
  opening_ += R"(,"result":{"chunk":{"seq":)";
}

std::string ChunkWriter::start(const Chunk& chunk) const {
  std::string message;
  message.reserve(opening_.size() + chunk.delta.size() + closing_.size() + 64);
  message += opening_;
  append_number(message, static_cast<std::int64_t>(seq_));
  if (chunk.batch > 0) {
    message += R"(,"batch":)";
    append_number(message, static_cast<std::int64_t>(chunk.batch));
  }
  message += R"(,"delta":)";
  append_quoted(message, chunk.delta);
  if (chunk.token_ids.size() == 1) {
    message += R"(,"token_id":)";
    append_number(message, chunk.token_ids.front());
  } else if (!chunk.token_ids.empty()) {
    message += R"(,"token_ids":)" + to_text(chunk.token_ids);
  }
  return message;
}

std::string ChunkWriter::chunk(const Chunk& chunk) {
  std::string message = start(chunk) + closing_;
  ++seq_;
  return message;
}

std::string ChunkWriter::nothing_new() const { return start(Chunk{}) + closing_; }

std::string ChunkWriter::queue_position(std::size_t calls_before) const {
  if (form_ == Form::kReply) return result_message(id_, method_, Json{{"queue_position", calls_before}});
  return notification_message(method_, Json{{"stream_id", stream_id_}, {"queue_position", calls_before}});
}

std::string ChunkWriter::end(const Chunk& rest, const CallOutcome& outcome) {
  const std::string ending = further_members(ending_of(outcome));
  std::string message = start(rest) + R"(,"end":true)";
  if (form_ == Form::kReply) message += "}";  // closes the chunk: the ending stands beside it
  message += ending;
  message += "}}";
  ++seq_;
  return message;
}

std::string ChunkWriter::failure(const RpcError& error) const {
  if (form_ == Form::kReply) return error_message(id_, error);
  const Json body{{"code", static_cast<int>(error.code())}, {"message", error.what()}, {"data", error.data()}};
  return start(Chunk{}) + R"(,"end":true,"error":)" + to_text(body) + "}}";
}

}  // namespace rkllm_mcp
