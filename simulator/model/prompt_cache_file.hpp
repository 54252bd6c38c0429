// A prompt cache on disk: which cells a prompt fills, bound to the vocabulary that gives them meaning.
#pragma once

#include "model/kv_cache.hpp"

#include <filesystem>
#include <span>
#include <string_view>
#include <variant>
#include <vector>

namespace rkllm_mcp::sim {

// Why a file could not be read, by what rkllm_load_prompt_cache returns for it.
enum class CacheFileFault : int {
  kMissing = -1,  // no such file, or an empty one
  kForeign = 1,   // not a prompt cache, or that of another model
};

// A file that cannot be written is passed over in silence, as the vendor's library does.
void write_prompt_cache(const std::filesystem::path& path, std::string_view model, std::span<const Cell> cells);

std::variant<std::vector<Cell>, CacheFileFault> read_prompt_cache(const std::filesystem::path& path,
                                                                  std::string_view model);

}  // namespace rkllm_mcp::sim
