#include "chat/assistant/profile/profile.hpp"

#include "settings/document.hpp"
#include "text/regular_file.hpp"

#include <rkllm_mcp/json_reader.hpp>
#include <rkllm_mcp/nearest_name.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <exception>
#include <filesystem>
#include <span>
#include <stdexcept>
#include <string>
#include <system_error>
#include <utility>

namespace rkllm_mcp::chat {
namespace {

constexpr std::string_view kRoot = "profile";
constexpr std::int64_t kMostTokens = 1'000'000;

// The value of a word. Any other word is refused, with a list of those that may be used.
template <class Value>
Value choice(const JsonReader& member, std::span<const std::pair<std::string_view, Value>> words) {
  std::string known;
  for (const auto& [word, value] : words) {
    if (member.text() == word) return value;
    known.append(known.empty() ? "" : ", ").append(word);
  }
  member.expected("one of " + known);
}

constexpr std::array<std::pair<std::string_view, ProviderKind>, 3> kProviders = {
    {{"runtime", ProviderKind::kRuntime}, {"ollama", ProviderKind::kOllama}, {"openai", ProviderKind::kOpenAi}}};
constexpr std::array<std::pair<std::string_view, SummaryUse>, 3> kSummaries = {
    {{"none", SummaryUse::kNone}, {"each_response", SummaryUse::kEachResponse}, {"threshold", SummaryUse::kThreshold}}};
constexpr std::array<std::pair<std::string_view, bool>, 2> kFailures = {{{"open", true}, {"closed", false}}};
constexpr std::array<std::pair<std::string_view, bool>, 2> kLanguageChecks = {{{"script", false}, {"model", true}}};
constexpr std::array<std::pair<std::string_view, Language>, 2> kLanguages = {
    {{"vi", Language::kVietnamese}, {"en", Language::kEnglish}}};
constexpr std::array kPurposes = {Purpose::kLanguage, Purpose::kGuardrail, Purpose::kAnswer,
                                  Purpose::kRefusal,  Purpose::kSummary,   Purpose::kShorterSummary};

// A misspelt member would be one that nobody obeys.
void refuse_others(const JsonReader& object, std::span<const std::string_view> known) {
  for (const auto& [name, value] : object.object().items()) {
    if (std::ranges::find(known, name) != known.end()) continue;
    throw InvalidParams(object.path_of(name), "there is no such member" + did_you_mean(name, known));
  }
}

// A text, or an array of its lines.
std::string text_of_lines(const JsonReader& member) {
  if (!member.json().is_array()) return member.text();
  std::string text;
  for (std::size_t i = 0; i < member.json().size(); ++i) text += (i == 0 ? "" : "\n") + member.element(i).text();
  return text;
}

Wording read_wording(const JsonReader& wording, const Profile& profile) {
  constexpr std::array<std::string_view, 8> kMembers = {"language", "guardrail",       "answer", "refusal",
                                                        "summary",  "shorter_summary", "user",   "assistant"};
  refuse_others(wording, kMembers);
  Wording result;
  for (const Purpose purpose : kPurposes) {
    const auto text = wording.find(word_for(purpose));
    result.prompts[purpose] = text ? text_of_lines(*text) : "";
  }
  const auto require = [&](bool is_needed, Purpose purpose) {
    if (!is_needed || !result.prompts.at(purpose).empty()) return;
    throw InvalidParams(wording.path_of(word_for(purpose)), "missing");
  };
  require(true, Purpose::kAnswer);
  require(profile.asks_model_for_language, Purpose::kLanguage);
  require(profile.guardrail.has_value(), Purpose::kGuardrail);
  require(profile.guardrail.has_value(), Purpose::kRefusal);
  require(profile.summary != SummaryUse::kNone, Purpose::kSummary);
  require(profile.summary != SummaryUse::kNone, Purpose::kShorterSummary);
  const auto user = wording.find("user");
  const auto assistant = wording.find("assistant");
  result.user = user ? user->text() : "user";
  result.assistant = assistant ? assistant->text() : "assistant";
  return result;
}

Guardrail read_guardrail(const JsonReader& object) {
  constexpr std::array<std::string_view, 3> kMembers = {"model", "max_tokens", "fail"};
  refuse_others(object, kMembers);
  Guardrail guardrail;
  if (const auto model = object.find("model")) guardrail.model = model->text();
  if (const auto most = object.find("max_tokens")) guardrail.max_tokens = most->integer<std::int64_t>(2, kMostTokens);
  if (const auto fail = object.find("fail")) guardrail.lets_pass = choice<bool>(*fail, kFailures);
  return guardrail;
}

Search read_search(const JsonReader& object) {
  constexpr std::array<std::string_view, 4> kMembers = {"server", "tool", "max_results", "max_bytes"};
  refuse_others(object, kMembers);
  Search search;
  if (const auto server = object.find("server")) search.server = server->text();
  const auto tool = object.find("tool");
  if (!tool) throw InvalidParams(object.path_of("tool"), "missing");
  search.tool = tool->text();
  if (const auto most = object.find("max_results")) search.max_results = most->integer<std::int64_t>(1, 10);
  if (const auto most = object.find("max_bytes")) search.max_bytes = most->integer<std::size_t>(100, 1'000'000);
  return search;
}

OfferedTools read_tools(const JsonReader& object) {
  constexpr std::array<std::string_view, 3> kMembers = {"allow", "rounds", "max_bytes"};
  refuse_others(object, kMembers);
  OfferedTools tools;
  const auto allow = object.find("allow");
  if (!allow || allow->array().empty()) throw InvalidParams(object.path_of("allow"), "missing");
  for (std::size_t i = 0; i < allow->json().size(); ++i) tools.allow.push_back(allow->element(i).text());
  if (const auto rounds = object.find("rounds")) tools.rounds = rounds->integer<std::int64_t>(1, 20);
  if (const auto most = object.find("max_bytes")) tools.max_bytes = most->integer<std::size_t>(100, 1'000'000);
  return tools;
}

void read_provider(const JsonReader& root, Profile& profile) {
  if (const auto provider = root.find("provider")) profile.provider = choice<ProviderKind>(*provider, kProviders);
  const bool is_here = profile.provider == ProviderKind::kRuntime;
  for (const auto& [name, value] : {std::pair{"url", &profile.url}, std::pair{"key_file", &profile.key_file}}) {
    const auto member = root.find(name);
    if (!member) continue;
    if (is_here) member->refuse("is for the providers ollama and openai");
    *value = member->text();
  }
  if (!is_here && profile.url.empty()) throw InvalidParams(root.path_of("url"), "missing");
  if (const auto model = root.find("model")) profile.model = model->text();
  if (!is_here && profile.model.empty()) throw InvalidParams(root.path_of("model"), "missing");
  if (const auto most = root.find("max_tokens")) profile.max_tokens = most->integer<std::int64_t>(1, kMostTokens);
  if (const auto temperature = root.find("temperature")) profile.temperature = temperature->number(0, 2);
}

Profile read_members(const JsonReader& root, const std::string& name) {
  constexpr std::array<std::string_view, 17> kMembers = {
      "$schema",    "name",        "description", "provider",         "url",       "key_file", "model",
      "max_tokens", "temperature", "language",    "default_language", "guardrail", "tasks",    "search",
      "tools",      "summary",     "prompts"};
  refuse_others(root, kMembers);
  if (const auto schema = root.find("$schema")) schema->text();
  Profile profile;
  profile.name = name;
  if (const auto given = root.find("name")) profile.name = given->text();
  if (profile.name.empty()) throw InvalidParams(root.path_of("name"), "must not be empty");
  if (const auto description = root.find("description")) profile.description = description->text();
  read_provider(root, profile);
  if (const auto language = root.find("language")) {
    profile.asks_model_for_language = choice<bool>(*language, kLanguageChecks);
  }
  if (const auto guardrail = root.find("guardrail")) profile.guardrail = read_guardrail(*guardrail);
  const auto tasks = root.find("tasks");
  profile.answers_tasks = tasks ? tasks->boolean() : !profile.guardrail;
  if (const auto search = root.find("search")) profile.search = read_search(*search);
  if (const auto tools = root.find("tools")) {
    if (profile.provider != ProviderKind::kRuntime) tools->refuse("are for the provider runtime");
    profile.tools = read_tools(*tools);
  }
  if (const auto summary = root.find("summary")) profile.summary = choice<SummaryUse>(*summary, kSummaries);
  const auto prompts = root.find("prompts");
  if (!prompts || prompts->object().empty()) throw InvalidParams(root.path_of("prompts"), "missing");
  for (const auto& [code, wording] : prompts->json().items()) {
    const auto language = language_of_code(code);
    if (!language) throw InvalidParams(prompts->path_of(code), "expected vi or en");
    profile.wordings[*language] = read_wording(*prompts->find(code), profile);
  }
  profile.default_language = profile.wordings.begin()->first;
  if (const auto language = root.find("default_language")) {
    profile.default_language = choice<Language>(*language, kLanguages);
    if (!profile.wordings.contains(profile.default_language)) language->refuse("there are no prompts in it");
  }
  return profile;
}

constexpr std::size_t kMostFileBytes = std::size_t{1} << 20U;

}  // namespace

const Wording& Profile::wording(Language language) const {
  const auto found = wordings.find(language);
  return found == wordings.end() ? wordings.at(default_language) : found->second;
}

Profile read_profile(const std::string& file, std::string_view text) {
  const Document document(file, text);
  const JsonReader root(document.value(), kRoot);
  try {
    return read_members(root, std::filesystem::path(file).stem().string());
  } catch (const InvalidParams& error) {
    const std::string path = error.data().at("path").get<std::string>();
    const std::string_view complaint = std::string_view(error.what()).substr(path.size());
    const std::string member = path.size() > kRoot.size() ? path.substr(kRoot.size() + 1) : "";
    const std::string place = document.place_of(member.substr(0, member.find('[')));
    throw std::runtime_error(place + ": " + (member.empty() ? std::string(kRoot) : member) + std::string(complaint));
  }
}

ProfileFolder read_profiles(const std::string& folder) {
  ProfileFolder result;
  if (folder.empty()) return result;
  std::error_code error;
  std::vector<std::filesystem::path> files;
  for (auto each = std::filesystem::directory_iterator(folder, error);
       !error && each != std::filesystem::directory_iterator(); each.increment(error)) {
    const std::string name = each->path().filename().string();
    if (name.ends_with(".json") && !name.ends_with(".schema.json")) files.push_back(each->path());
  }
  if (error) result.complaints.push_back("chat.profiles_dir: " + folder + ": " + error.message());
  std::ranges::sort(files);
  for (const auto& file : files) {
    try {
      Profile profile = read_profile(file.string(), read_regular_file(file.string(), kMostFileBytes));
      if (std::ranges::find(result.profiles, profile.name, &Profile::name) != result.profiles.end()) {
        throw std::runtime_error(file.string() + ": there is another profile \"" + profile.name + "\"");
      }
      result.profiles.push_back(std::move(profile));
    } catch (const std::exception& refused) {
      result.complaints.emplace_back(refused.what());
    }
  }
  return result;
}

}  // namespace rkllm_mcp::chat
