// A profile: an assistant under a model's name. Which model answers, in which words, whom it refuses, what it looks up
// and what it remembers. A file of chat.profiles_dir describes one; docs/profiles.md has all its members.
//
// Plain values; reading is pure.
#pragma once

#include "chat/assistant/profile/language.hpp"
#include "chat/assistant/profile/wording.hpp"

#include <rkllm_mcp/json.hpp>

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace rkllm_mcp::chat {

enum class ProviderKind { kRuntime, kOllama, kOpenAi };

struct Guardrail {
  std::string model{};          // empty: the profile's
  std::int64_t max_tokens = 8;  // of its yes or no
  bool lets_pass = false;       // what is unclear, and what could not be asked; "fail": "open"

  bool operator==(const Guardrail&) const = default;
};

struct Search {
  std::string server = "tool-server";
  std::string tool{};
  std::int64_t max_results = 5;
  std::size_t max_bytes = 6000;  // of results that the model is told

  bool operator==(const Search&) const = default;
};

// Tools that the model may call by itself, before it answers.
struct OfferedTools {
  std::vector<std::string> allow{};  // patterns (*, ?) of their names
  std::int64_t rounds = 4;           // of calls and their results, before the model has to answer
  std::size_t max_bytes = 4000;      // of one result that the model is told

  bool operator==(const OfferedTools&) const = default;
};

enum class SummaryUse { kNone, kEachResponse, kThreshold };

struct Profile {
  std::string name{};
  std::string description{};
  ProviderKind provider = ProviderKind::kRuntime;
  std::string url{};       // kOllama, kOpenAi
  std::string key_file{};  // of its API key; empty: none
  std::string model{};     // empty: the only one
  std::optional<std::int64_t> max_tokens{};
  std::optional<double> temperature{};
  Language default_language = Language::kEnglish;
  bool asks_model_for_language = false;
  std::optional<Guardrail> guardrail{};
  // What a client asks for its own use (a title of the chat) goes to the model as it is, past the guardrail: so by
  // default only where there is none.
  bool answers_tasks = true;
  std::optional<Search> search{};
  std::optional<OfferedTools> tools{};  // kRuntime
  SummaryUse summary = SummaryUse::kNone;
  std::int64_t summary_tokens = 200;  // of one summary
  std::map<Language, Wording> wordings{};

  // In that language, or in the profile's own.
  const Wording& wording(Language language) const;
  // A yes or no, and the language, may be asked of a smaller model than that of the answers, whose KV cache stays.
  // `helper` is asked for all that is no answer, where the profile does not name one for it; empty: there is none.
  const std::string& model_for(Purpose purpose, const std::string& helper = {}) const {
    const bool is_asked_first = purpose == Purpose::kGuardrail || purpose == Purpose::kLanguage;
    if (is_asked_first && guardrail && !guardrail->model.empty()) return guardrail->model;
    return purpose == Purpose::kAnswer || helper.empty() ? model : helper;
  }
  const std::string& prompt(Purpose purpose, Language language) const { return wording(language).prompts.at(purpose); }

  bool operator==(const Profile&) const = default;
};

// `text` is that of the file, whose name without its ending is the profile's. Throws std::runtime_error that names
// file, line and member.
Profile read_profile(const std::string& file, std::string_view text);

// What a profile's file looks like, as JSON Schema (draft 2020-12): editors show it, and complain of what
// read_profile() refuses.
Json profile_schema();

// The profiles of a folder. Reads files, so it blocks: at the start of the server, and at SIGHUP, as the settings do.
struct ProfileFolder {
  std::vector<Profile> profiles{};        // by name
  std::vector<std::string> complaints{};  // of files that are no profiles, and of the folder
};

// All "*.json" of it but "*.schema.json"; an empty name: there is none, and nothing is complained of.
ProfileFolder read_profiles(const std::string& folder);

}  // namespace rkllm_mcp::chat
