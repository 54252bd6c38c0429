// The files of runtime.model_dirs that are models: what ends with .rkllm, and, for the simulator, its own .json files.
//
// Threads: any. These functions read directories, and block for as long as their disk does.
#pragma once

#include <rkllm_mcp/json.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace rkllm_mcp {

struct ModelFile {
  std::string name{};  // the file's, without its ending
  std::string path{};
  std::int64_t bytes = 0;
  std::int64_t modified_s = 0;  // seconds since 1970
  std::string template_name{};  // see simulated_template

  bool operator==(const ModelFile&) const = default;
};

enum class SimulatedModels { kLeftOut, kFound };

struct FoundModels {
  std::vector<ModelFile> files{};      // by path; of two with one name the first counts
  std::vector<std::string> folders{};  // that were looked into
  std::vector<std::string> hidden{};   // paths of files that have the name of an earlier file
};

// The folders whose files are models by name; models are pulled into the first of them. They are `model_dirs`. If that
// is empty, it is one folder, which may not exist yet: models in $STATE_DIRECTORY (as systemd sets it), else
// rkllm-mcp/models in $XDG_DATA_HOME or in ~/.local/share. None if no home directory is known either.
std::vector<std::string> model_folders(const std::vector<std::string>& model_dirs);

// The models in these directories and in those inside, three levels deep. One that cannot be read counts as empty.
FoundModels find_models(const std::vector<std::string>& folders, SimulatedModels simulated);

// What a model may be called when it is to be loaded: the names of these presets (`models` of the settings), the paths
// of their files, and those of all .rkllm files that are found in these directories, hidden ones too. Sorted, each
// once.
std::vector<std::string> known_models(const Json& presets, const std::vector<std::string>& folders);

// The family of the template that a simulated model says it has ("chat_template" in its file); empty: it says nothing,
// or the file is no simulated model. A real model's name tells its family.
std::string simulated_template(const std::string& path);

// What is known of one file; nothing if it cannot be looked at.
std::optional<ModelFile> look_at_model(const std::string& path);

}  // namespace rkllm_mcp
