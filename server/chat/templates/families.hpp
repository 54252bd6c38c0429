// The families that are built in, and which of them a model file belongs to.
#pragma once

#include "chat/templates/family.hpp"

#include <span>
#include <string_view>
#include <utility>
#include <vector>

namespace rkllm_mcp::chat {

// The template files of this folder, compiled in: the name of the family and JSON text, for each.
std::vector<std::pair<std::string_view, std::string_view>> template_files();

// Sorted by name; they live as long as the program.
std::span<const Family> built_in_families();

// By its own name ("qwen3"), as presets give it; null if there is none.
const Family* find_family(std::span<const Family> families, std::string_view name);

// By a model file's name, e.g. "Qwen2.5-1.5B-Instruct_W8A8_RK3588.rkllm": the family whose pattern says most about it.
// Case and separators do not matter. Null if no pattern fits: then only the model's own template is known to be right.
const Family* family_of_file(std::span<const Family> families, std::string_view file_name);

// The built-in family of a model: the one that `template_name` names (models.NAME.template), else the one that its
// file's name tells. Null: that is not known, or there is none of that name.
const Family* family_of_model(std::string_view template_name, std::string_view path);

}  // namespace rkllm_mcp::chat
