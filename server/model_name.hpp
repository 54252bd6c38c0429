// Names of models as chat hosts write them.
#pragma once

#include <string_view>

namespace rkllm_mcp {

// A model by its path. Relative paths are names that nobody has.
constexpr bool is_model_path(std::string_view name) { return name.starts_with('/'); }

// "NAME:latest" is how Ollama's clients say NAME.
constexpr std::string_view without_latest(std::string_view name) {
  constexpr std::string_view kLatest = ":latest";
  if (name.size() > kLatest.size() && name.ends_with(kLatest)) name.remove_suffix(kLatest.size());
  return name;
}

}  // namespace rkllm_mcp
