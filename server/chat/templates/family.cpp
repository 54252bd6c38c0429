#include "chat/templates/family.hpp"

#include "jsonrpc/bounded_json.hpp"

#include <rkllm_mcp/errors.hpp>
#include <rkllm_mcp/json_reader.hpp>
#include <rkllm_mcp/lower_case.hpp>

#include <fnmatch.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>

namespace rkllm_mcp::chat {
namespace {

// Reads the members of one object; whatever nobody has asked for is a misspelling.
class FamilyReader {
 public:
  explicit FamilyReader(const JsonReader& object) : object_(object) { object.object(); }

  // A text whose holes are among `holes`.
  void text(std::string_view name, std::string& value, const std::set<std::string_view>& holes = {}) {
    if (const auto member = find(name)) {
      value = member->text();
      check_holes(*member, value, holes);
    }
  }
  void flag(std::string_view name, bool& value) {
    if (const auto member = find(name)) value = member->boolean();
  }
  void texts(std::string_view name, std::vector<std::string>& value) {
    if (const auto member = find(name)) {
      value.clear();
      for (std::size_t i = 0; i < member->array().size(); ++i) value.push_back(member->element(i).text());
    }
  }
  std::optional<JsonReader> find(std::string_view name) {
    known_.insert(name);
    return object_.find(name);
  }
  void finish() const {
    for (const auto& [name, value] : object_.json().items()) {
      if (!known_.contains(name)) object_.refuse("unknown member '" + name + "'");
    }
  }

 private:
  static void check_holes(const JsonReader& member, std::string_view text, const std::set<std::string_view>& holes) {
    for (auto at = text.find("${"); at != std::string_view::npos; at = text.find("${", at + 1)) {
      const auto end = text.find('}', at);
      if (end == std::string_view::npos) member.refuse("a hole does not end");
      const auto hole = text.substr(at + 2, end - at - 2);
      if (!holes.contains(hole)) member.refuse("no such hole as '" + std::string(hole) + "'");
    }
  }

  const JsonReader& object_;
  std::set<std::string_view> known_;
};

template <class Choice>
Choice read_choice(const JsonReader& value, const std::map<std::string, Choice>& choices) {
  const auto found = choices.find(value.text());
  if (found == choices.end()) value.expected("one of the known words");
  return found->second;
}

ThinkingForm read_thinking(const JsonReader& object) {
  ThinkingForm form;
  FamilyReader reader(object);
  reader.text("open", form.open);
  reader.text("close", form.close);
  reader.text("history", form.history, {"thinking"});
  reader.text("on", form.on);
  reader.text("off", form.off);
  reader.flag("on_by_itself", form.on_by_itself);
  reader.finish();
  return form;
}

ToolForm read_tool_form(const JsonReader& object) {
  ToolForm form;
  FamilyReader reader(object);
  if (const auto place = reader.find("place")) {
    form.position = read_choice<ToolPosition>(*place, {{"system", ToolPosition::kInSystem},
                                                       {"own_turn", ToolPosition::kOwnTurn},
                                                       {"first_user", ToolPosition::kInFirstUser}});
  }
  reader.text("definitions", form.definitions, {"tools"});
  reader.text("before_system", form.before_system);
  reader.text("after_system", form.after_system);
  reader.flag("bare_functions", form.bare_functions);
  if (const auto indent = reader.find("indent")) form.indent = indent->integer<unsigned>(0, 8);
  reader.text("between_tools", form.between_tools);
  reader.text("calls", form.calls, {"calls"});
  reader.text("after_content", form.after_content);
  reader.text("call", form.call, {"name", "plain_name", "arguments"});
  reader.text("between_calls", form.between_calls);
  reader.text("results", form.results, {"results"});
  reader.text("result", form.result, {"content", "content_json", "name"});
  reader.text("between_results", form.between_results);
  reader.text("forced", form.forced);
  reader.text("forced_named", form.forced_named, {"name", "plain_name"});
  if (const auto syntax = reader.find("syntax")) {
    form.syntax = read_choice<CallSyntax>(
        *syntax, {{"tagged", CallSyntax::kTagged}, {"bare", CallSyntax::kBare}, {"named", CallSyntax::kNamed}});
  }
  reader.text("open", form.open);
  reader.text("close", form.close);
  reader.text("separator", form.separator);
  reader.text("arguments_key", form.arguments_key);
  reader.finish();
  return form;
}

Family read_family(const JsonReader& object) {
  Family family;
  FamilyReader reader(object);
  reader.find("like");    // has been looked at
  reader.find("source");  // for people: where the form is published
  reader.text("name", family.name);
  reader.text("title", family.title);
  reader.texts("model_names", family.model_names);
  reader.texts("special_tokens", family.special_tokens);
  if (const auto brackets = reader.find("special_brackets")) {
    for (std::size_t i = 0; i < brackets->array().size(); ++i) {
      const JsonReader pair = brackets->element(i);
      if (pair.array().size() != 2) pair.expected("an opening and a closing text");
      family.special_brackets.emplace_back(pair.element(0).text(), pair.element(1).text());
    }
  }
  reader.texts("tokens_in_answers", family.tokens_in_answers);
  reader.flag("calls_are_special", family.calls_are_special);
  reader.flag("trim_content", family.trim_content);
  reader.flag("trim_system", family.trim_system);
  reader.text("default_system", family.default_system);
  reader.text("system", family.system, {"content"});
  reader.text("system_before_user", family.system_before_user, {"content"});
  reader.text("user", family.user, {"content"});
  reader.text("assistant", family.assistant, {"content"});
  reader.text("assistant_after_results", family.assistant_after_results, {"content"});
  reader.text("answer", family.answer);
  reader.flag("no_answer_after_results", family.no_answer_after_results);
  if (const auto thinking = reader.find("thinking")) family.thinking = read_thinking(*thinking);
  if (const auto tools = reader.find("tools")) family.tools = read_tool_form(*tools);
  reader.finish();
  if (family.name.empty()) object.refuse("has no name");
  if (family.system.empty() == family.system_before_user.empty()) {
    object.refuse("needs either system or system_before_user");
  }
  for (const std::string* needed : {&family.user, &family.assistant, &family.answer, &family.tools.definitions}) {
    if (needed->empty()) object.refuse("needs user, assistant, answer and tools.definitions");
  }
  return family;
}

using DocumentsByName = std::map<std::string, Json>;

// The document with all that it is `like` below it. Model names are its own: they are not inherited.
Json with_likeness(const DocumentsByName& documents, const std::string& name, std::size_t depth) {
  constexpr std::size_t kDeepest = 4;
  const auto found = documents.find(name);
  if (found == documents.end()) throw std::runtime_error("there is no family '" + name + "'");
  if (depth > kDeepest) throw std::runtime_error("family '" + name + "' is like itself");
  const auto like = found->second.find("like");
  if (like == found->second.end()) return found->second;
  Json whole = with_likeness(documents, like->get<std::string>(), depth + 1);
  whole.erase("model_names");
  whole.merge_patch(found->second);
  return whole;
}

// "Qwen2.5-1.5B" -> "qwen251.5b" would still have a separator: only letters and digits stay, "qwen2515b".
std::string letters_and_digits(std::string_view text) {
  std::string plain;
  for (const char character : text) {
    const auto byte = static_cast<unsigned char>(character);
    if (std::isalnum(byte) != 0) plain.push_back(in_lower_case(character));
  }
  return plain;
}

std::size_t letters_of(std::string_view pattern) {
  return static_cast<std::size_t>(std::ranges::count_if(pattern, [](char each) { return each != '*'; }));
}

}  // namespace

std::vector<Family> read_families(const std::vector<std::pair<std::string_view, std::string_view>>& files) {
  DocumentsByName documents;
  for (const auto& [name, text] : files) {
    auto document = parse_bounded(text);
    if (!document || !document->is_object()) throw std::runtime_error(std::string(name) + ": not a JSON object");
    documents.emplace(name, std::move(*document));
  }
  std::vector<Family> families;
  for (const auto& [name, document] : documents) {
    try {
      const Json whole = with_likeness(documents, name, 0);
      families.push_back(read_family(JsonReader(whole, name)));
    } catch (const RpcError& error) {
      throw std::runtime_error(error.what());
    }
  }
  return families;
}

std::string filled(std::string_view text, const std::vector<std::pair<std::string_view, std::string_view>>& values) {
  std::string result;
  std::size_t copied = 0;
  for (auto at = text.find("${"); at != std::string_view::npos; at = text.find("${", at + 1)) {
    const auto end = text.find('}', at);
    if (end == std::string_view::npos) break;
    const auto hole = text.substr(at + 2, end - at - 2);
    const auto value = std::ranges::find(values, hole, &std::pair<std::string_view, std::string_view>::first);
    if (value == values.end()) continue;
    result.append(text.substr(copied, at - copied)).append(value->second);
    copied = end + 1;
  }
  return result.append(text.substr(copied));
}

// Read once, at the first call: they are compiled in, and never change.
std::span<const Family> built_in_families() {
  static const std::vector<Family> families = read_families(template_files());
  return families;
}

const Family* find_family(std::span<const Family> families, std::string_view name) {
  const auto found = std::ranges::find(families, name, &Family::name);
  return found == families.end() ? nullptr : &*found;
}

const Family* family_of_file(std::span<const Family> families, std::string_view file_name) {
  const std::string plain = letters_and_digits(file_name.substr(file_name.find_last_of('/') + 1));
  const Family* best = nullptr;
  std::size_t best_letters = 0;
  for (const Family& family : families) {
    for (const std::string& pattern : family.model_names) {
      const bool fits = ::fnmatch(("*" + pattern + "*").c_str(), plain.c_str(), 0) == 0;
      if (fits && letters_of(pattern) > best_letters) {
        best = &family;
        best_letters = letters_of(pattern);
      }
    }
  }
  return best;
}

const Family* family_of_model(std::string_view template_name, std::string_view path) {
  return template_name.empty() ? family_of_file(built_in_families(), path)
                               : find_family(built_in_families(), template_name);
}

}  // namespace rkllm_mcp::chat
