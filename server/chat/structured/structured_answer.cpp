#include "chat/structured/structured_answer.hpp"
#include "jsonrpc/bounded_json.hpp"
#include "jsonrpc/unread.hpp"

#include <rkllm_mcp/errors.hpp>

namespace rkllm_mcp::chat {

JsonSchema schema_of(const OutputFormat& format, std::string_view field) {
  return format.kind == OutputKind::kJsonSchema ? JsonSchema(format.schema, field) : JsonSchema::any_object();
}

std::string structured_instruction(const OutputFormat& format, std::string_view complaint) {
  std::string text =
      format.kind == OutputKind::kJsonSchema
          ? "Answer with JSON only, without any other text. It must fit this JSON Schema:\n" + to_text(format.schema)
          : "Answer with one JSON object only, without any other text.";
  if (!complaint.empty()) text += "\nAn earlier answer was wrong: " + std::string(complaint);
  return text;
}

StructuredAnswer::StructuredAnswer(const JsonSchema& schema)
    : schema_(schema),
      check_(schema.nodes(), 0, effort_),
      prefix_([this](const JsonEvent& event) { return check_.accept(event); }) {}

bool StructuredAnswer::skip_before() {
  constexpr std::string_view kFence = "```";
  const auto begin = before_.find_first_not_of(" \t\r\n");
  if (begin == std::string::npos) return false;
  const auto rest = std::string_view(before_).substr(begin);
  if (rest.size() < kFence.size() && kFence.starts_with(rest)) return false;
  if (!rest.starts_with(kFence)) {
    before_.erase(0, begin);
    return true;
  }
  const auto line_end = rest.find('\n');  // behind "```json"
  if (line_end == std::string_view::npos) return false;
  before_.erase(0, begin + line_end + 1);
  return true;
}

bool StructuredAnswer::feed(std::string_view text) {
  if (!is_possible_ || is_complete()) return is_possible_;
  if (!has_begun_) {
    constexpr std::size_t kMostBefore = 512;  // of space: nothing else will come
    before_ += text;
    if (!skip_before()) return is_possible_ = before_.size() <= kMostBefore;
    has_begun_ = true;
    json_ = std::move(before_);
  } else {
    json_ += text;
  }
  const auto added = has_begun_ && prefix_.value_bytes() < json_.size()
                         ? std::string_view(json_).substr(prefix_.value_bytes())
                         : std::string_view();
  is_possible_ = prefix_.feed(added);
  return is_possible_;
}

std::optional<std::string> StructuredAnswer::finish() {
  if (!is_possible_) return "the answer is not the JSON that was asked for";
  if (!prefix_.finish()) return "the answer ends within its JSON";
  json_.resize(prefix_.value_bytes());
  const auto value = parse_bounded(json_);
  if (!value) return "the answer is no JSON";
  return schema_.complaint(*value);
}

}  // namespace rkllm_mcp::chat
