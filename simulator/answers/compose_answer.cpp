#include "answers/compose_answer.hpp"

#include "answers/passages.hpp"
#include "engine/sim_json.hpp"
#include "model/characters.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace rkllm_mcp::sim {
namespace {

// Enough of a text to recognise it, on one line, valid UTF-8 whatever came in.
std::string quote(std::string_view text) {
  constexpr std::size_t kMostBytes = 60;
  std::string quoted;
  while (!text.empty() && quoted.size() < kMostBytes) {
    const std::size_t length = whole_character(text);
    const bool plain = length > 1 || (length == 1 && static_cast<unsigned char>(text[0]) >= ' ');
    quoted += plain ? text.substr(0, length) : std::string_view(" ");
    text.remove_prefix(plain ? length : 1);
  }
  return "\"" + quoted + (text.empty() ? "\"" : "…\"");
}

// What the user said last, where a chat host has written ChatML around it: its marks would end the answer.
std::string_view last_of_user(std::string_view prompt) {
  constexpr std::string_view kOpens = "<|im_start|>user\n";
  constexpr std::string_view kEnds = "<|im_end|>";
  const std::size_t at = prompt.rfind(kOpens);
  if (at == std::string_view::npos) return prompt;
  prompt.remove_prefix(at + kOpens.size());
  return prompt.substr(0, prompt.find(kEnds));
}

std::string opening(const Question& question) {
  std::string text(kOpening);
  if (question.directives.exact_tokens) return text;  // the count is what matters
  if (!question.prompt.empty()) {
    text += (question.from_tool ? " The tools said: " : " You wrote: ") + quote(last_of_user(question.prompt)) + ".";
  }
  for (const Turn& turn : question.earlier) {
    if (!turn.said.empty()) text += " Earlier you said: " + quote(turn.said) + ".";
  }
  return text;
}

void append_text(std::vector<TokenId>& ids, std::string_view text, const ModelFile& model) {
  const std::vector<TokenId> more = Vocabulary::built_in().encode(text, model.special_tokens);
  ids.insert(ids.end(), more.begin(), more.end());
}

// Adds passages until there are `wanted` tokens, or until none that is drawn fits below `most`.
void append_passages(std::vector<TokenId>& ids, std::size_t wanted, std::size_t most, Random& random,
                     const ModelFile& model) {
  constexpr int kDraws = 20;
  for (int draws = 0; ids.size() < wanted && draws < kDraws; ++draws) {
    const std::span<const TokenId> passage = draw_passage(random, model.languages);
    if (ids.size() + passage.size() > most) continue;
    ids.insert(ids.end(), passage.begin(), passage.end());
    draws = 0;
  }
}

Json member(const Json& value, const char* name) { return value.is_object() ? value.value(name, Json()) : Json(); }

std::string_view last_word(std::string_view text) {
  constexpr std::string_view kNotWords = " \t\r\n.,;:!?\"'()";
  const auto end = text.find_last_not_of(kNotWords);
  if (end == std::string_view::npos) return "";
  text = text.substr(0, end + 1);
  const auto before = text.find_last_of(kNotWords);
  return before == std::string_view::npos ? text : text.substr(before + 1);
}

Json argument(const Json& schema, std::string_view prompt) {
  if (const Json choices = member(schema, "enum"); choices.is_array() && !choices.empty()) return choices[0];
  const Json type = member(schema, "type");
  if (type == "integer" || type == "number") return 1;
  if (type == "boolean") return true;
  if (type == "array") return Json::array();
  if (type == "object") return Json::object();
  return std::string(last_word(prompt));
}

// The text of a tool call, in <tool_call> tags; nothing if the prompt names none of the tools. `tools` is a list as
// OpenAI writes it; entries that are not are passed over. The arguments fit the types that the tool asks for: strings
// are the prompt's last word.
std::optional<std::string> tool_call(const Json& tools, std::string_view prompt) {
  for (const Json& tool : tools) {
    const Json function = member(tool, "function");
    const Json name = member(function, "name");
    if (!name.is_string() || prompt.find(name.get<std::string>()) == std::string_view::npos) continue;
    Json arguments = Json::object();
    const Json properties = member(member(function, "parameters"), "properties");
    for (const auto& [key, schema] : properties.items()) {
      arguments[key] = argument(schema, prompt);
    }
    const Json call{{"name", name}, {"arguments", arguments}};
    return "<tool_call>\n" + call.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n</tool_call>";
  }
  return std::nullopt;
}

}  // namespace

AnswerTokens compose_answer(const Question& question, const ModelFile& model, const Json& tools) {
  using How = AnswerTokens::Ending::How;
  Random random(mix(question.seed, question.directives.seed));
  const auto tokens = [&](std::vector<TokenId> ids, AnswerTokens::Ending ending) {
    return AnswerTokens(std::move(ids), ending, model.languages, random.next());
  };
  const How ending = question.eos_is_sampled ? How::kEos : How::kPassages;
  if (std::vector<TokenId> ids = question.directives.ids; !ids.empty()) {
    if (!question.eos_is_sampled) std::erase_if(ids, Vocabulary::ends_answer);
    return tokens(std::move(ids), {ending});
  }

  std::vector<TokenId> ids;
  if (const auto& texts = question.directives.texts; !texts.empty()) {
    const std::string& text = texts[std::min(question.asked_before, texts.size() - 1)];
    if (question.directives.in_bytes) {
      for (const char byte : text) ids.push_back(kFirstByte + static_cast<TokenId>(static_cast<unsigned char>(byte)));
    } else {
      append_text(ids, text, model);
    }
    return tokens(std::move(ids), {ending});
  }
  if (question.thinks) {
    append_text(ids, kThought, model);
    append_passages(ids, ids.size() + 10, ids.size() + 40, random, model);
    append_text(ids, "\n</think>\n\n", model);
  }
  if (const auto call = question.from_tool ? std::nullopt : tool_call(tools, question.prompt)) {
    append_text(ids, *call, model);
    return tokens(std::move(ids), {ending});
  }
  const std::size_t thought = ids.size();
  append_text(ids, opening(question), model);
  if (const auto exact = question.directives.exact_tokens) return tokens(std::move(ids), {How::kExactly, *exact});

  // EOS is one of the tokens of an answer.
  const auto [shortest, longest] = model.answer_tokens;
  const std::size_t length = shortest + random.below(longest - shortest + 1);
  append_passages(ids, thought + length - 1, thought + longest - 1, random, model);
  return tokens(std::move(ids), {ending});
}

}  // namespace rkllm_mcp::sim
