#include "app/model_files.hpp"

#include <cstddef>
#include <filesystem>
#include <set>
#include <system_error>

namespace rkllm_mcp {

std::vector<std::string> known_models(const Settings& settings) {
  constexpr std::size_t kLookedAt = 1000;
  std::set<std::string> models;
  for (const auto& [name, model] : settings.models.items()) {
    models.insert(name);
    const Json param = model.value("param", Json::object());
    if (param.contains("model_path") && param["model_path"].is_string())
      models.insert(param["model_path"].get<std::string>());
  }
  for (const auto& directory : settings.runtime.model_dirs) {
    std::error_code error;
    std::size_t seen = 0;
    for (std::filesystem::directory_iterator file(directory, error), end; !error && file != end && seen < kLookedAt;
         file.increment(error), ++seen) {
      if (file->path().extension() == ".rkllm") models.insert(file->path().string());
    }
  }
  return {models.begin(), models.end()};
}

}  // namespace rkllm_mcp
