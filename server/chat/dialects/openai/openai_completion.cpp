#include "chat/dialects/openai/openai_completion.hpp"

#include "chat/dialects/message_parts.hpp"
#include "chat/dialects/openai/openai_chat_reply.hpp"
#include "chat/dialects/tool_fields.hpp"
#include "jsonrpc/unread.hpp"
#include "text/json_text.hpp"

#include <array>

namespace rkllm_mcp::chat {
namespace {

constexpr std::size_t kMostCompletionStops = 16;
constexpr std::size_t kMostCompletions = 8;

constexpr std::array kOpenAiCompletionFields = {
    Field{"model", kHonoured, kTextField, "a preset, a file of runtime.model_dirs or an alias"},
    Field{"prompt", kHonoured, kTextField | kArrayField, "a string, or an array with one; goes to the model as it is"},
    Field{"stream", kHonoured, kBooleanField, ""},
    Field{"stream_options", kHonoured, kObjectField, "include_usage"},
    Field{"stream_options.include_obfuscation", kIgnored, kBooleanField, "chunks are as long as they are"},
    Field{"max_tokens", kHonoured, kNumberField, "absent: the rest of the context"},
    Field{"stop", kHonoured, kTextField | kArrayField, "a string, or at most 16"},
    Field{"temperature", kHonoured, kNumberField, "0 to 2"},
    Field{"top_p", kHonoured, kNumberField, "0 to 1"},
    Field{"top_k", kHonoured, kNumberField, "from 1; 0 and -1: every token may come"},
    Field{"frequency_penalty", kHonoured, kNumberField, "-2 to 2"},
    Field{"presence_penalty", kHonoured, kNumberField, "-2 to 2"},
    Field{"repeat_penalty", kHonoured, kNumberField, "0 to 10"},
    Field{"n", kHonoured, kNumberField, "1 to 8, one after the other"},
    Field{"best_of", kIgnored, kNumberField, "all answers are sent"},
    Field{"seed", kIgnored, kNumberField, "the runtime has none"},
    Field{"logprobs", kIgnored, kNumberField, "too slow on boards"},
    Field{"logit_bias", kIgnored, kObjectField, "the runtime has none"},
    Field{"user", kIgnored, kTextField, "never selects a conversation"},
    Field{"echo", kRefused, kBooleanField, "the prompt is not repeated"},
    Field{"suffix", kRefused, kTextField, "no model here fills gaps"},
};

const std::string& read_prompt(const JsonReader& prompt) {
  if (prompt.json().is_string()) return prompt.text();
  const bool is_one_text = prompt.array().size() == 1 && prompt.json().front().is_string();
  if (!is_one_text) prompt.refuse("expected a string, or an array with one; send several prompts in several requests");
  return prompt.json().front().get_ref<const std::string&>();
}

Json completion_head(const ReplyFacts& facts) {
  return {{"id", facts.id}, {"object", "text_completion"}, {"created", facts.created_s}, {"model", facts.model}};
}

}  // namespace

std::span<const Field> openai_completion_fields() { return kOpenAiCompletionFields; }

OpenAiCompletionRequest read_openai_completion(const Json& json) {
  OpenAiCompletionRequest result;
  read_request(json, [&result](const JsonReader& request) {
    result.ignored = check_fields(kOpenAiCompletionFields, request);
    Turn& turn = result.turn;
    if (const auto model = request.find("model")) turn.model = model->text();
    turn.prompt_field = "prompt";
    turn.raw_prompt = read_prompt(*required_member(request, "prompt"));
    if (const auto stream = request.find("stream")) result.stream = stream->boolean();
    if (const auto options = request.find("stream_options")) {
      if (const auto usage = options->find("include_usage")) result.include_usage = usage->boolean();
    }
    if (const auto limit = request.find("max_tokens")) turn.max_tokens = read_token_limit(*limit);
    if (const auto stop = request.find("stop")) turn.stop = read_stops(*stop, kMostCompletionStops);
    read_sampling(request, turn.sampling);
    if (const auto answers = request.find("n")) turn.answers = answers->integer<std::size_t>(1, kMostCompletions);
  });
  return result;
}

std::string openai_completion_reply(const ReplyFacts& facts, const std::vector<Answer>& answers, const Usage& sum) {
  Json reply = completion_head(facts);
  reply["choices"] = Json::array();
  for (const Answer& answer : answers) {
    reply["choices"].push_back({{"text", answer.text},
                                {"index", reply["choices"].size()},
                                {"logprobs", nullptr},
                                {"finish_reason", openai_finish(answer.end.finish)}});
  }
  reply["usage"] = openai_usage(sum);
  return to_text(reply);
}

OpenAiCompletionStream::OpenAiCompletionStream(const ReplyFacts& facts, bool include_usage)
    : head_(to_text(completion_head(facts))), include_usage_(include_usage) {
  head_.back() = ',';
}

std::string OpenAiCompletionStream::chunk(const std::string& choices, std::string_view usage,
                                          std::string_view more) const {
  std::string data = head_ + R"("choices":[)" + choices + "]";
  if (include_usage_) data.append(R"(,"usage":)").append(usage);
  return sse_data(data.append(more).append("}"));
}

std::string OpenAiCompletionStream::choice(std::size_t answer, std::string_view text, std::string_view finish) const {
  std::string choice = R"({"text":)";
  append_quoted(choice, text);
  choice.append(R"(,"index":)").append(std::to_string(answer)).append(R"(,"logprobs":null,"finish_reason":)");
  return choice.append(finish).append("}");
}

std::string OpenAiCompletionStream::event(const AnswerEvent& event, std::size_t answer) {
  const auto* text = std::get_if<TextDelta>(&event);  // a raw prompt has neither thinking nor calls
  return text == nullptr ? "" : chunk(choice(answer, text->text, "null"), "null");
}

std::string OpenAiCompletionStream::heartbeat() { return chunk(choice(0, "", "null"), "null"); }

std::string OpenAiCompletionStream::end(const AnswerEnd& end, std::size_t answer) {
  return chunk(choice(answer, "", '"' + std::string(openai_finish(end.finish)) + '"'), "null", notices_member());
}

std::string OpenAiCompletionStream::finish(const Usage& sum) {
  const std::string usage = include_usage_ ? chunk("", to_text(openai_usage(sum))) : "";
  return usage + sse_data("[DONE]");
}

std::string OpenAiCompletionStream::error(const TurnError& error) { return sse_data(to_text(openai_error(error))); }

}  // namespace rkllm_mcp::chat
