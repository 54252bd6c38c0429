#include "chat/assistant/profile/profile_prompts.hpp"

#include <rkllm_mcp/errors.hpp>

#include <array>
#include <string>
#include <utility>

namespace rkllm_mcp::chat {
namespace {

constexpr std::string_view kLanguage = "language";

struct Described {
  Purpose purpose;
  std::string_view title;
  std::string_view description;
};
constexpr std::array kDescribed = {
    Described{Purpose::kLanguage, "Language", "Asks which language a question is in."},
    Described{Purpose::kGuardrail, "Guardrail", "Asks whether the assistant may answer a question: yes or no."},
    Described{Purpose::kAnswer, "Answer", "What the assistant's model is told for an answer."},
    Described{Purpose::kRefusal, "Refusal", "What the assistant says instead of an answer."},
    Described{Purpose::kSummary, "Summary", "Asks for a summary of what was said."},
    Described{Purpose::kShorterSummary, "Shorter summary", "Asks for a summary of summaries."},
};

// All that may be in a hole.
constexpr std::array<std::pair<std::string_view, std::string_view>, 4> kHoles = {
    {{"question", "What the user asks."},
     {"history", "What was said before, a line for each message."},
     {"summary", "Of what was said before that."},
     {"search", "What was found."}}};

std::vector<std::string> languages_of(const Profile& profile) {
  std::vector<std::string> codes;
  for (const auto& [language, wording] : profile.wordings) codes.emplace_back(code_of(language));
  return codes;
}

std::string text_for(const Profile& profile, Purpose purpose, const Json& arguments) {
  Language language = language_of(arguments.value("question", std::string()), profile.default_language);
  if (const auto code = arguments.find(kLanguage); code != arguments.end()) {
    const auto given = language_of_code(code->get<std::string>());
    if (!given) throw InvalidParams("params.arguments.language", "expected vi or en");
    language = *given;
  }
  Filling filling;
  for (const auto& [hole, description] : kHoles) filling[std::string(hole)] = arguments.value(hole, std::string());
  return filled(profile.prompt(purpose, language), filling);
}

std::vector<mcp::PromptArgument> arguments_of(const Profile& profile, std::string_view text) {
  std::vector<mcp::PromptArgument> arguments;
  for (const auto& [hole, description] : kHoles) {
    if (text.find("{" + std::string(hole) + "}") == std::string_view::npos) continue;
    arguments.push_back({std::string(hole), "", std::string(description), hole == "question"});
  }
  arguments.push_back({std::string(kLanguage), "", "vi or en; by the question, if it is left out.", false,
                       [codes = languages_of(profile)](std::string_view so_far, const Json&) {
                         std::vector<std::string> fitting;
                         for (const auto& code : codes) {
                           if (code.starts_with(so_far)) fitting.push_back(code);
                         }
                         return fitting;
                       }});
  return arguments;
}

}  // namespace

std::vector<Immutable<mcp::Prompt>> prompts_of(const std::vector<Immutable<Profile>>& profiles) {
  std::vector<Immutable<mcp::Prompt>> prompts;
  for (const auto& profile : profiles) {
    for (const Described& each : kDescribed) {
      const std::string& text = profile->prompt(each.purpose, profile->default_language);
      if (text.empty()) continue;
      const std::string description(each.description);
      mcp::Prompt prompt;
      // No word may have a "_": two profiles' prompts would have one name.
      const bool is_shorter = each.purpose == Purpose::kShorterSummary;
      prompt.name = profile->name + "_" + (is_shorter ? "shorter" : std::string(word_for(each.purpose)));
      prompt.title = std::string(each.title) + " (" + profile->name + ")";
      prompt.description = description;
      prompt.arguments = arguments_of(*profile, text);
      prompt.run = [profile, purpose = each.purpose, description](mcp::Invocation& invocation) {
        const Json message{{"role", purpose == Purpose::kRefusal ? "assistant" : "user"},
                           {"content", mcp::text_block(text_for(*profile, purpose, invocation.arguments()))}};
        invocation.result(Json{{"description", description}, {"messages", Json::array({message})}});
      };
      prompts.emplace_back(std::move(prompt));
    }
  }
  return prompts;
}

}  // namespace rkllm_mcp::chat
