// A tokenizer.json, read (tokenizer.hpp).
#include "chat/tokenizer/tokenizer.hpp"

#include "text/utf8.hpp"

#include <rkllm_mcp/json.hpp>

#include <array>
#include <charconv>
#include <cstdint>
#include <limits>
#include <map>
#include <stdexcept>
#include <utility>

namespace rkllm_mcp::chat {
namespace {

using Merge = std::pair<std::string, std::string>;

TokenId id_of(const Json& value) {
  const bool is_id = value.is_number_integer() && value >= 0 && value <= std::numeric_limits<TokenId>::max();
  if (!is_id) throw std::runtime_error("a token's id is " + value.dump());
  return value.get<TokenId>();
}

[[noreturn]] void not_understood(const std::string& what) {
  throw std::runtime_error("it has " + what + ", which is not understood here");
}

// Null counts as absent, as the library does that writes these files.
bool is_set(const Json& entry, const char* name, bool otherwise) {
  const Json value = entry.value(name, Json());
  return value.is_null() ? otherwise : value.get<bool>();
}

std::string type_of(const Json& entry) { return entry.value("type", std::string()); }

// --- what has a hundred thousand entries is taken as it comes, and never held as JSON

class LargeParts {
 public:
  std::vector<std::pair<std::string, TokenId>> vocabulary;
  std::vector<Merge> merges;

  // For the parser: whether this part of the document is kept.
  bool keep(int depth, Json::parse_event_t event, const Json& value) {
    constexpr int kDeepest = 32;
    if (depth > kDeepest) throw std::runtime_error("it is nested too deeply");
    const auto level = static_cast<std::size_t>(depth);
    const bool in_vocabulary = level == 3 && keys_.size() >= 2 && keys_[0] == "model" && keys_[1] == "vocab";
    if (event == Json::parse_event_t::key) {
      keys_.resize(level);
      keys_.at(level - 1) = value.get<std::string>();
      return !in_vocabulary;  // without its key, a value is not kept either
    }
    if (in_vocabulary && event == Json::parse_event_t::value && keys_.size() == 3) {
      vocabulary.emplace_back(keys_[2], id_of(value));
      return true;
    }
    if (level != 3 || keys_.size() < 2 || keys_[0] != "model") return true;
    const bool is_whole = event == Json::parse_event_t::value || event == Json::parse_event_t::array_end;
    if (keys_[1] == "merges" && is_whole) {
      merges.push_back(merge_of(value));
      return false;
    }
    return true;
  }

 private:
  // "a b", or ["a", "b"].
  static Merge merge_of(const Json& value) {
    if (value.is_string()) {
      const auto& text = value.get_ref<const std::string&>();
      const auto space = text.find(' ');
      if (space != std::string::npos) return {text.substr(0, space), text.substr(space + 1)};
    } else if (value.is_array() && value.size() == 2 && value[0].is_string() && value[1].is_string()) {
      return {value[0].get<std::string>(), value[1].get<std::string>()};
    }
    throw std::runtime_error("one of the merges is no pair of tokens");
  }

  std::vector<std::string> keys_;
};

// --- GPT-2's alphabet: each byte is written as a character that can be seen

std::string character_of(std::uint32_t code) {
  if (code < 0x80) return {static_cast<char>(code)};
  return {static_cast<char>(0xC0U | code >> 6U), static_cast<char>(0x80U | (code & 0x3FU))};
}

// From characters to bytes.
std::map<std::string, char, std::less<>> byte_alphabet() {
  const auto is_itself = [](std::uint32_t byte) {
    return (byte >= 0x21 && byte <= 0x7E) || (byte >= 0xA1 && byte <= 0xAC) || byte >= 0xAE;
  };
  std::map<std::string, char, std::less<>> alphabet;
  std::uint32_t next = 0x100;
  for (std::uint32_t byte = 0; byte < 0x100; ++byte) {
    alphabet.emplace(character_of(is_itself(byte) ? byte : next++), static_cast<char>(byte));
  }
  return alphabet;
}

// The bytes that a token of that alphabet stands for; as it is, if it has other characters.
std::string bytes_of(const std::string& token) {
  static const auto kAlphabet = byte_alphabet();
  std::string bytes;
  for (std::string_view rest = token; !rest.empty();) {
    const std::size_t size = first_character_bytes(rest);
    const auto found = kAlphabet.find(rest.substr(0, size));
    if (found == kAlphabet.end()) return token;
    bytes += found->second;
    rest.remove_prefix(size);
  }
  return bytes;
}

// --- steps before the tokens

Pattern pattern_of(const Json& entry) {
  const Json pattern = entry.value("pattern", Json());
  if (pattern.is_object() && pattern.contains("String")) return Pattern::of_text(pattern["String"].get<std::string>());
  if (pattern.is_object() && pattern.contains("Regex")) return Pattern(pattern["Regex"].get<std::string>());
  not_understood("a pattern of an unknown kind");
}

// Each entry, and those of sequences one by one.
void each_entry(const Json& entry, const char* list, const std::function<void(const Json&)>& take) {
  if (entry.is_null()) return;
  if (type_of(entry) != "Sequence") return take(entry);
  for (const Json& inner : entry.at(list)) each_entry(inner, list, take);
}

std::vector<Normalizer> normalizers_of(const Json& document) {
  const std::map<std::string, NormalForm, std::less<>> forms = {
      {"NFC", NormalForm::kNfc}, {"NFD", NormalForm::kNfd}, {"NFKC", NormalForm::kNfkc}, {"NFKD", NormalForm::kNfkd}};
  std::vector<Normalizer> steps;
  each_entry(document.value("normalizer", Json()), "normalizers", [&](const Json& entry) {
    const std::string type = type_of(entry);
    if (const auto form = forms.find(type); form != forms.end()) {
      steps.emplace_back(form->second);
    } else if (type == "Prepend") {
      steps.emplace_back(Prepend{entry.at("prepend").get<std::string>()});
    } else if (type == "Replace") {
      steps.emplace_back(Replace{pattern_of(entry), entry.at("content").get<std::string>()});
    } else {
      not_understood("the normalizer " + type);
    }
  });
  return steps;
}

Split::Behavior behavior_of(const Json& entry) {
  const std::map<std::string, Split::Behavior, std::less<>> behaviors = {
      {"Removed", Split::Behavior::kRemoved},
      {"Isolated", Split::Behavior::kIsolated},
      {"MergedWithPrevious", Split::Behavior::kMergedWithPrevious},
      {"MergedWithNext", Split::Behavior::kMergedWithNext},
      {"Contiguous", Split::Behavior::kContiguous}};
  const auto found = behaviors.find(entry.at("behavior").get<std::string>());
  if (found == behaviors.end()) not_understood("a behavior of Split");
  return found->second;
}

Metaspace metaspace_of(const Json& entry) {
  Metaspace step{entry.value("replacement", std::string("\xE2\x96\x81"))};
  const std::string scheme =
      entry.value("prepend_scheme", std::string(is_set(entry, "add_prefix_space", true) ? "always" : "never"));
  if (scheme == "never") step.prepend = Metaspace::Prepend::kNever;
  if (scheme == "first") step.prepend = Metaspace::Prepend::kFirst;
  step.splits = is_set(entry, "split", true);
  return step;
}

// `of_bytes` becomes true where tokens are written in the alphabet of bytes.
std::vector<PreTokenizer> pre_tokenizers_of(const Json& document, bool& of_bytes) {
  // As GPT-2 divides texts, and ByteLevel wherever it is not told otherwise.
  const char* const gpt2 = R"('(?:[sdmt]|ll|ve|re)| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)";
  std::vector<PreTokenizer> steps;
  each_entry(document.value("pre_tokenizer", Json()), "pretokenizers", [&](const Json& entry) {
    const std::string type = type_of(entry);
    if (of_bytes) not_understood("the pre_tokenizer " + type + " behind ByteLevel");
    if (type == "Split") {
      steps.emplace_back(Split{pattern_of(entry), behavior_of(entry), is_set(entry, "invert", false)});
    } else if (type == "ByteLevel") {
      of_bytes = true;
      if (is_set(entry, "add_prefix_space", true)) steps.emplace_back(LeadingSpace{});
      if (is_set(entry, "use_regex", true)) steps.emplace_back(Split{Pattern(gpt2), Split::Behavior::kIsolated, false});
    } else if (type == "Metaspace") {
      steps.emplace_back(metaspace_of(entry));
    } else if (type == "Digits") {
      const bool one_by_one = is_set(entry, "individual_digits", false);
      steps.emplace_back(
          Split{Pattern(R"(\p{N})"), one_by_one ? Split::Behavior::kIsolated : Split::Behavior::kContiguous, false});
    } else {
      not_understood("the pre_tokenizer " + type);
    }
  });
  return steps;
}

// --- tokens around a text

std::vector<TokenId> ids_of(const Json& processor, const std::string& name) {
  std::vector<TokenId> ids;
  for (const Json& id : processor.at("special_tokens").at(name).at("ids")) ids.push_back(id_of(id));
  return ids;
}

void read_surroundings(const Json& document, TokenizerParts& parts) {
  each_entry(document.value("post_processor", Json()), "processors", [&](const Json& entry) {
    const std::string type = type_of(entry);
    if (type == "ByteLevel") return;  // it changes only the positions of tokens
    if (type != "TemplateProcessing") not_understood("the post_processor " + type);
    std::vector<TokenId>* side = &parts.before;
    for (const Json& item : entry.at("single")) {
      if (item.contains("Sequence")) {
        side = &parts.after;
      } else {
        const auto ids = ids_of(entry, item.at("SpecialToken").at("id").get<std::string>());
        side->insert(side->end(), ids.begin(), ids.end());
      }
    }
  });
}

// --- tokens

void read_added(const Json& document, TokenizerParts& parts) {
  for (const Json& entry : document.value("added_tokens", Json::array())) {
    const auto content = entry.at("content").get<std::string>();
    const TokenId id = id_of(entry.at("id"));
    if (is_set(entry, "single_word", false)) not_understood("an added token that is a word of its own");
    const AddedTokens::Token token{id, is_set(entry, "lstrip", false), is_set(entry, "rstrip", false),
                                   is_set(entry, "special", true)};
    const bool in_normalised = is_set(entry, "normalized", false);
    if (in_normalised) {
      parts.normalised.add(normalised(content, parts.normalizers), token);
    } else {
      parts.added.add(content, token);
    }
    parts.texts.insert_or_assign(id, content);
  }
}

// What <0x0A> stands for; nothing, if it is no such token.
std::optional<char> byte_of(const std::string& token) {
  if (token.size() != 6 || !token.starts_with("<0x") || token.back() != '>') return std::nullopt;
  unsigned byte = 0;
  const auto [end, error] = std::from_chars(token.data() + 3, token.data() + 5, byte, 16);
  if (error != std::errc() || end != token.data() + 5) return std::nullopt;
  return static_cast<char>(byte);
}

std::string text_of_characters(const std::string& token, bool has_byte_tokens) {
  if (const auto byte = has_byte_tokens ? byte_of(token) : std::nullopt) return {*byte};
  constexpr std::string_view kMark = "\xE2\x96\x81";  // ▁
  std::string text;
  std::string_view rest = token;
  for (auto at = rest.find(kMark); at != std::string_view::npos; at = rest.find(kMark)) {
    text.append(rest.substr(0, at)).append(" ");
    rest.remove_prefix(at + kMark.size());
  }
  return text.append(rest);
}

BytePairs::Rules rules_of(const Json& model) {
  for (const auto* key : {"continuing_subword_prefix", "end_of_word_suffix"}) {
    const Json value = model.value(key, Json());
    if (value.is_string() && !value.get_ref<const std::string&>().empty()) not_understood(key);
  }
  if (const Json dropout = model.value("dropout", Json()); dropout.is_number() && dropout.get<double>() > 0) {
    not_understood("a dropout");
  }
  BytePairs::Rules rules;
  rules.has_byte_tokens = is_set(model, "byte_fallback", false);
  rules.joins_unknown = is_set(model, "fuse_unk", false);
  rules.takes_whole_words = is_set(model, "ignore_merges", false);
  return rules;
}

void read_model(const Json& document, bool of_bytes, const LargeParts& large, TokenizerParts& parts) {
  const Json model = document.value("model", Json());
  if (!model.is_object()) throw std::runtime_error("it has no model");
  const std::string type = model.value("type", std::string("BPE"));
  if (type != "BPE") not_understood("a model of the type " + type);
  BytePairs::Rules rules = rules_of(model);
  rules.of_bytes = of_bytes;
  for (const auto& [token, id] : large.vocabulary) {
    std::string text = of_bytes ? bytes_of(token) : token;
    parts.texts.emplace(id, of_bytes ? text : text_of_characters(token, rules.has_byte_tokens));
    parts.pairs.add_token(std::move(text), id);
  }
  for (const auto& [left, right] : large.merges) {
    if (!parts.pairs.add_pair(of_bytes ? bytes_of(left) : left, of_bytes ? bytes_of(right) : right)) {
      throw std::runtime_error("it joins \"" + left + "\" and \"" + right + "\", but these are not all tokens");
    }
  }
  if (const Json unknown = model.value("unk_token", Json()); unknown.is_string()) {
    rules.unknown = parts.pairs.find(unknown.get<std::string>());
  }
  parts.pairs.set_rules(rules);
}

bool adds_space(const TokenizerParts& parts) {
  for (const Normalizer& step : parts.normalizers) {
    if (std::holds_alternative<Prepend>(step)) return true;
  }
  for (const PreTokenizer& step : parts.pre_tokenizers) {
    const auto* marks = std::get_if<Metaspace>(&step);
    if (marks != nullptr && marks->prepend != Metaspace::Prepend::kNever) return true;
  }
  return false;
}

}  // namespace

Tokenizer read_tokenizer(std::string_view json) {
  LargeParts large;
  const auto keep = [&large](int depth, Json::parse_event_t event, Json& value) {
    return large.keep(depth, event, value);
  };
  try {
    const Json document = Json::parse(json, keep);
    if (!document.is_object()) throw std::runtime_error("it is no object");
    TokenizerParts parts;
    bool of_bytes = false;
    parts.normalizers = normalizers_of(document);
    parts.pre_tokenizers = pre_tokenizers_of(document, of_bytes);
    read_model(document, of_bytes, large, parts);
    read_added(document, parts);
    read_surroundings(document, parts);
    parts.begins_with_space = adds_space(parts);
    return Tokenizer(std::move(parts));
  } catch (const Json::exception& error) {
    throw std::runtime_error(std::string("it is no tokenizer.json: ") + error.what());
  }
}

}  // namespace rkllm_mcp::chat
