#include "pull/model_source.hpp"

#include "text/shown.hpp"

#include <algorithm>
#include <cctype>
#include <stdexcept>
#include <vector>

namespace rkllm_mcp {
namespace {

constexpr std::string_view kEnding = ".rkllm";
constexpr std::size_t kLongestName = 255 - 10;  // bytes; the unfinished file's name has an ending of its own

[[noreturn]] void refuse(std::string_view text) {
  throw std::invalid_argument("\"" + std::string(text.substr(0, 120)) +
                              "\" names no model to pull; write hf.co/OWNER/NAME, hf.co/OWNER/NAME:FILE.rkllm, or the "
                              "https address of a .rkllm file");
}

std::vector<std::string> parts_of(std::string_view path) {
  std::vector<std::string> parts;
  while (!path.empty()) {
    const auto slash = path.find('/');
    if (slash != 0) parts.emplace_back(path.substr(0, slash));
    path.remove_prefix(slash == std::string_view::npos ? path.size() : slash + 1);
  }
  return parts;
}

bool is_plain(const std::string& part) {
  const auto is_taken = [](unsigned char character) {
    return std::isalnum(character) != 0 || character == '-' || character == '_' || character == '.';
  };
  return !part.empty() && part.front() != '.' && std::all_of(part.begin(), part.end(), is_taken);
}

// What stands behind the hub's name, if `text` begins with it.
std::optional<std::string_view> behind_hub(std::string_view text, const Url& hub) {
  for (const std::string_view scheme : {"https://", "http://"}) {
    if (text.starts_with(scheme)) {
      text.remove_prefix(scheme.size());
      break;
    }
  }
  for (const std::string& name : {std::string("hf.co"), std::string("huggingface.co"), hub.authority()}) {
    if (text.starts_with(name + "/")) return text.substr(name.size() + 1);
  }
  return std::nullopt;
}

// OWNER/NAME[:FILE], or OWNER/NAME/{blob,resolve}/REVISION/FILE as the hub's pages have it.
std::optional<ModelSource> in_repository(std::string_view text) {
  const auto colon = text.find(':');
  auto parts = parts_of(text.substr(0, colon));
  if (parts.size() < 2 || !is_plain(parts[0]) || !is_plain(parts[1])) return std::nullopt;
  ModelSource source{parts[0] + "/" + parts[1], {}, {}, {}};
  if (colon != std::string_view::npos) {
    if (parts.size() != 2) return std::nullopt;
    source.file = text.substr(colon + 1);
    file_name_of(source.file);
    return source;
  }
  if (parts.size() == 2) return source;
  const bool is_page = parts[2] == "blob" || parts[2] == "resolve" || parts[2] == "tree";
  if (!is_page || parts.size() == 3) return std::nullopt;
  source.revision = parts[3];
  for (std::size_t at = 4; at < parts.size(); ++at) source.file += (at == 4 ? "" : "/") + parts[at];
  if (parts[2] == "tree") source.file.clear();
  if (const auto query = source.file.find('?'); query != std::string::npos) source.file.resize(query);
  source.file = percent_decoded(source.file);
  if (!source.file.empty()) file_name_of(source.file);
  return source;
}

}  // namespace

std::string file_name_of(std::string_view path) {
  if (const auto query = path.find('?'); query != std::string_view::npos) path = path.substr(0, query);
  const std::string_view name = path.substr(path.rfind('/') + 1);
  const auto refuse = [name](const char* why) {
    throw std::invalid_argument("\"" + in_one_line(name.substr(0, 120)) + "\" is no name of a model: " + why);
  };
  if (in_one_line(name) != name) refuse("it has control characters");
  if (name.size() <= kEnding.size() || !name.ends_with(kEnding) || name.front() == '.' || name.size() > kLongestName) {
    refuse("it ends in .rkllm");
  }
  return std::string(name);
}

ModelSource parse_model_source(std::string_view text, const Url& hub) {
  if (const auto rest = behind_hub(text, hub)) {
    if (auto source = in_repository(*rest)) return *std::move(source);
    refuse(text);
  }
  if (!text.starts_with("https://") && !text.starts_with("http://")) refuse(text);
  Url url = parse_url(text);
  file_name_of(url.target);
  return {{}, {}, {}, std::move(url)};
}

}  // namespace rkllm_mcp
