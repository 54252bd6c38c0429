// In which of the assistant's languages somebody writes: by letters that only one of them has, in longer texts by the
// frequency of groups of letters (cld2), in others by common words. A model need not be asked. Pure, any thread.
#pragma once

#include <optional>
#include <string_view>

namespace rkllm_mcp::chat {

enum class Language { kVietnamese, kEnglish };

// "vi", "en"
std::string_view code_of(Language language);
std::optional<Language> language_of_code(std::string_view code);

// `unless_known`: of a text that has no words, or none that tell.
Language language_of(std::string_view text, Language unless_known);

}  // namespace rkllm_mcp::chat
