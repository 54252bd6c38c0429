#include "model/model_file.hpp"

#include "engine/sim_json.hpp"
#include "model/vocabulary.hpp"

#include <fstream>
#include <initializer_list>
#include <iterator>
#include <stdexcept>
#include <utility>

namespace rkllm_mcp::sim {
namespace {

// No simulated model is anywhere near this; a real one is far above, and is not worth reading.
constexpr std::uintmax_t kMaxFileBytes = 1 << 20;

constexpr const char* kNotSimulated =
    "not a simulated model: the simulator loads none but its own, such as simulator/models/*.json";

[[noreturn]] void refuse(const std::string& complaint) { throw std::runtime_error(complaint); }

std::string read_text(const std::filesystem::path& path) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error)) refuse("no such file");
  if (std::filesystem::file_size(path, error) > kMaxFileBytes || error) refuse(kNotSimulated);
  std::ifstream file(path, std::ios::binary);
  if (!file) refuse("cannot be read");
  return {std::istreambuf_iterator<char>(file), {}};
}

double number(const Json& value, const std::string& field, double least, double most) {
  if (!value.is_number() || !(value.get<double>() >= least) || !(value.get<double>() <= most)) {
    refuse("\"" + field + "\" must be a number from " + std::to_string(least) + " to " + std::to_string(most));
  }
  return value.get<double>();
}

// Tokens per second; 0: no time at all. One token may not take longer than a clock can count.
double speed(const Json& value, const std::string& field) {
  constexpr double kSlowest = 1e-6;
  constexpr double kFastest = 1e9;
  if (value == 0) return 0;
  return number(value, field, kSlowest, kFastest);
}

template <class Integer>
Integer integer(const Json& value, const std::string& field, Integer least, Integer most) {
  if (!value.is_number_integer() || value.get<double>() < static_cast<double>(least) ||
      value.get<double>() > static_cast<double>(most)) {
    refuse("\"" + field + "\" must be an integer from " + std::to_string(least) + " to " + std::to_string(most));
  }
  return value.get<Integer>();
}

bool boolean(const Json& value, const std::string& field) {
  if (!value.is_boolean()) refuse("\"" + field + "\" must be true or false");
  return value.get<bool>();
}

std::string text(const Json& value, const std::string& field) {
  if (!value.is_string()) refuse("\"" + field + "\" must be a string");
  return value.get<std::string>();
}

template <class Value>
Value one_of(const Json& value, const std::string& field,
             std::initializer_list<std::pair<const char*, Value>> choices) {
  std::string names;
  for (const auto& [name, meaning] : choices) {
    if (value == name) return meaning;
    names += (names.empty() ? "" : ", ") + std::string(name);
  }
  refuse("\"" + field + "\" must be one of " + names);
}

std::array<unsigned, kLanguageCount> read_languages(const Json& value) {
  if (!value.is_object()) refuse("\"languages\" must be an object");
  std::array<unsigned, kLanguageCount> weights{};
  unsigned sum = 0;
  for (const auto& [code, weight] : value.items()) {
    const auto language = one_of<Language>(Json(code), "languages",
                                           {{"en", Language::kEnglish},
                                            {"vi", Language::kVietnamese},
                                            {"zh", Language::kChinese},
                                            {"ja", Language::kJapanese},
                                            {"emoji", Language::kEmoji}});
    weights[static_cast<std::size_t>(language)] = integer<unsigned>(weight, "languages." + code, 0, 1000);
    sum += weights[static_cast<std::size_t>(language)];
  }
  if (sum == 0) refuse("\"languages\" must give at least one language a weight");
  return weights;
}

std::array<std::size_t, 2> read_answer_tokens(const Json& value) {
  if (!value.is_array() || value.size() != 2) refuse("\"answer_tokens\" must be [shortest, longest]");
  const auto shortest = integer<std::size_t>(value[0], "answer_tokens[0]", 1, 1000000);
  return {shortest, integer<std::size_t>(value[1], "answer_tokens[1]", shortest, 1000000)};
}

// Each has an id of its own behind those of the vocabulary.
std::vector<std::string> read_special_tokens(const Json& value) {
  constexpr std::size_t kMost = 64;
  if (!value.is_array() || value.size() > kMost) refuse("\"special_tokens\" must be an array of at most 64 texts");
  std::vector<std::string> tokens;
  for (const Json& token : value) {
    tokens.push_back(text(token, "special_tokens"));
    if (tokens.back().empty()) refuse("\"special_tokens\" must not be empty texts");
  }
  return tokens;
}

Fault read_fault(const Json& value) {
  if (!value.is_object() || value.size() != 2 || !value.contains("when") || !value.contains("what")) {
    refuse("each of \"faults\" must be {\"when\": \"init\" or a token number, \"what\": ...}");
  }
  Fault fault;
  if (value["when"] != "init") fault.token = integer<std::int64_t>(value["when"], "faults.when", 1, INT64_MAX / 2);
  using What = Fault::What;
  fault.what = fault.token == 0 ? one_of<What>(value["what"], "faults.what",
                                               {{"fail", What::kFail},
                                                {"crash", What::kCrash},
                                                {"hang", What::kHang},
                                                {"log", What::kLog},
                                                {"oom", What::kOutOfMemory}})
                                : one_of<What>(value["what"], "faults.what",
                                               {{"fail", What::kFail},
                                                {"error", What::kError},
                                                {"crash", What::kCrash},
                                                {"hang", What::kHang},
                                                {"log", What::kLog}});
  return fault;
}

void read_field(ModelFile& model, const std::string& field, const Json& value) {
  if (field == "rkllm_simulated_model") return;
  if (field == "name") {
    model.name = text(value, field);
  } else if (field == "description") {
    model.description = text(value, field);
  } else if (field == "platform") {
    model.platform = text(value, field);
  } else if (field == "toolkit_version") {
    model.toolkit_version = text(value, field);
  } else if (field == "npu_memory_mb") {
    model.npu_memory_mb = integer<std::size_t>(value, field, 0, 1 << 20);
  } else if (field == "npu_cores") {
    model.npu_cores = integer<int>(value, field, 1, 8);
  } else if (field == "vocab_size") {
    const auto least = static_cast<std::int32_t>(Vocabulary::built_in().size());
    model.vocab_size = integer<std::int32_t>(value, field, least, 1 << 20);
  } else if (field == "embedding_size") {
    model.embedding_size = integer<std::int32_t>(value, field, 1, 1 << 16);
  } else if (field == "max_context_len") {
    model.max_context_len = integer<std::int32_t>(value, field, 32, 1 << 20);
  } else if (field == "prefill_tokens_per_s") {
    model.prefill_tokens_per_s = speed(value, field);
  } else if (field == "decode_tokens_per_s") {
    model.decode_tokens_per_s = speed(value, field);
  } else if (field == "languages") {
    model.languages = read_languages(value);
  } else if (field == "answer_tokens") {
    model.answer_tokens = read_answer_tokens(value);
  } else if (field == "thinking") {
    model.thinking = boolean(value, field);
  } else if (field == "chat_template") {
    model.chat_template = one_of<Template>(
        value, field,
        {{"chatml", Template::kChatMl}, {"none", Template::kNone}, {"unparseable", Template::kUnparseable}});
  } else if (field == "default_system") {
    model.default_system = text(value, field);
  } else if (field == "special_tokens") {
    model.special_tokens = read_special_tokens(value);
  } else if (field == "tokenizer") {
    model.tokenizer = boolean(value, field);
  } else if (field == "embeddings") {
    model.embeddings = boolean(value, field);
  } else if (field == "cross_attention") {
    model.cross_attention = boolean(value, field);
  } else if (field == "reuses_prefix") {
    model.reuses_prefix = boolean(value, field);
  } else if (field == "image_patch") {
    model.image_patch = integer<std::size_t>(value, field, 0, 1 << 16);
  } else if (field == "faults") {
    if (!value.is_array()) refuse("\"faults\" must be an array");
    for (const Json& fault : value) model.faults.push_back(read_fault(fault));
  } else {
    refuse("unknown field \"" + field + "\"");
  }
}

}  // namespace

ModelFile read_model_file(const std::filesystem::path& path) {
  const Json file = Json::parse(read_text(path), nullptr, false);
  if (!file.is_object() || file.value("rkllm_simulated_model", Json()) != 1) refuse(kNotSimulated);
  ModelFile model;
  for (const auto& [field, value] : file.items()) read_field(model, field, value);
  const std::size_t ids = Vocabulary::built_in().size() + model.special_tokens.size();
  if (static_cast<std::size_t>(model.vocab_size) < ids) refuse("\"vocab_size\" has no room for \"special_tokens\"");
  if (model.name.find("SIMULATED") == std::string::npos) refuse("\"name\" must say SIMULATED");
  return model;
}

}  // namespace rkllm_mcp::sim
