#include "chat/dialects/ollama/ollama_store.hpp"

#include "chat/dialects/reply_stream.hpp"
#include "jsonrpc/unread.hpp"

#include <array>
#include <sstream>

namespace rkllm_mcp::chat {
namespace {

constexpr std::array kOllamaPullFields = {
    Field{"model", kHonoured, kTextField, "hf.co/OWNER/NAME, hf.co/OWNER/NAME:FILE.rkllm, or a file's https address"},
    Field{"name", kHonoured, kTextField, "the same under its older name"},
    Field{"stream", kHonoured, kBooleanField, "true if absent; false: only the last line"},
    Field{"insecure", kIgnored, kBooleanField, "certificates are always verified"},
    Field{"username", kIgnored, kTextField, "the hub is asked with the server's HF_TOKEN"},
    Field{"password", kIgnored, kTextField, "the hub is asked with the server's HF_TOKEN"},
};

constexpr std::array kOllamaDeleteFields = {
    Field{"model", kHonoured, kTextField, "a file of runtime.model_dirs that is not loaded"},
    Field{"name", kHonoured, kTextField, "the same under its older name"},
    Field{"models", kHonoured, kArrayField,
          "several in place of one, of this server: none is deleted if one may not be"},
};

constexpr std::array kOllamaShowFields = {
    Field{"model", kHonoured, kTextField, "a model's name, or a profile's"},
    Field{"name", kHonoured, kTextField, "the same under its older name"},
    Field{"system", kIgnored, kTextField, "a model has none of its own here"},
    Field{"template", kIgnored, kTextField, "a model's family has it"},
    Field{"options", kIgnored, kObjectField, "the settings have them (models.NAME.param)"},
    Field{"verbose", kIgnored, kBooleanField, "there is no more to tell"},
};

OllamaStoreRequest read(std::span<const Field> fields, const Json& json) {
  OllamaStoreRequest result;
  read_request(json, [fields, &result](const JsonReader& request) {
    result.ignored = check_fields(fields, request);
    for (const char* const key : {"name", "model"}) {
      if (const auto given = request.find(key)) result.model = given->text();
    }
    if (const auto stream = request.find("stream")) result.stream = stream->boolean();
  });
  if (result.model.empty()) throw TurnError::bad_field("model", "missing");
  return result;
}

// Ollama names a file by the beginning of its digest, as its own client shows it.
std::string shown_name(const PullProgress& progress) {
  constexpr std::size_t kShown = 12;
  return progress.sha256.empty() ? progress.file : progress.sha256.substr(0, kShown);
}

}  // namespace

std::span<const Field> ollama_pull_fields() { return kOllamaPullFields; }
std::span<const Field> ollama_delete_fields() { return kOllamaDeleteFields; }
std::span<const Field> ollama_show_fields() { return kOllamaShowFields; }

OllamaStoreRequest read_ollama_pull(const Json& request) { return read(kOllamaPullFields, request); }
OllamaStoreRequest read_ollama_show(const Json& request) { return read(kOllamaShowFields, request); }
std::vector<std::string> read_ollama_delete(const Json& request) {
  std::vector<std::string> models;
  read_request(request, [&models](const JsonReader& reader) {
    const auto several = reader.find("models");
    if (!several) return;
    for (const char* const one : {"model", "name"}) {
      if (reader.find(one)) throw TurnError::bad_field(one, "either one is named here, or several by models");
    }
    for (std::size_t at = 0; at < several->array().size(); ++at) models.push_back(several->element(at).text());
  });
  if (models.empty()) models.push_back(read(kOllamaDeleteFields, request).model);
  return models;
}

std::string ollama_pull_line(const PullProgress& progress) {
  Json line = Json::object();
  switch (progress.step) {
    case PullProgress::Step::kChoosing: line["status"] = "pulling manifest"; break;
    case PullProgress::Step::kVerifying: line["status"] = "verifying sha256 digest"; break;
    case PullProgress::Step::kListing: line["status"] = "writing manifest"; break;
    case PullProgress::Step::kFetching:
      line["status"] = "pulling " + shown_name(progress);
      // What is not known is left out, as Ollama itself does.
      if (!progress.sha256.empty()) line["digest"] = "sha256:" + progress.sha256;
      if (progress.total) line["total"] = *progress.total;
      if (progress.bytes) line["completed"] = *progress.bytes;
      break;
  }
  return to_text(line) + "\n";
}

// Ollama's clients show every status that they are told, one below the other.
std::string ollama_pull_remark(const std::string& words) {
  std::string lines;
  std::istringstream text(words);
  for (std::string line; std::getline(text, line);) {
    lines += to_text({{"status", line}, {"rkllm", {{"remark", line}}}}) + "\n";
  }
  return lines;
}

std::string ollama_pull_success(const PulledModel& model, const std::string& remark) {
  Json facts{{"model", model.name},           {"path", model.path},
             {"bytes", model.bytes},          {"sha256", model.sha256},
             {"verified", model.is_verified}, {"was_there", model.was_there}};
  if (!remark.empty()) facts["remark"] = remark;
  return to_text({{"status", "success"}, {"rkllm", facts}}) + "\n";
}

}  // namespace rkllm_mcp::chat
