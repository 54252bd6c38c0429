// Where a model is to come from, as people write it. Pure functions, any thread.
#pragma once

#include "text/url.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace rkllm_mcp {

struct ModelSource {
  std::string repository{};  // of the hub: "OWNER/NAME"; empty: `url` is the file
  std::string file{};        // in the repository, with its folders; empty: the one for this board
  std::string revision{};    // a branch, tag or commit; empty: the repository's own choice
  std::optional<Url> url{};
};

// hf.co/OWNER/NAME, hf.co/OWNER/NAME:FILE, the address of a repository or of one of its files as a browser shows it, or
// the address of any .rkllm file. `hub` is the one of the settings: hf.co and huggingface.co stand for it. Throws
// std::invalid_argument that says what can be written.
ModelSource parse_model_source(std::string_view text, const Url& hub);

// The name that a file gets in the folder of models: the last part of its address. Throws std::invalid_argument for one
// that is no plain name or does not end in .rkllm.
std::string file_name_of(std::string_view path);

}  // namespace rkllm_mcp
