// Reads a tokenizer.json, the format of Hugging Face's tokenizers.
#pragma once

#include "chat/tokenizer/tokenizer.hpp"

#include <string>
#include <string_view>

namespace rkllm_mcp::chat {

// Throws std::runtime_error: it is no JSON, it is no tokenizer, or it wants something that is not understood here,
// which is named. Takes seconds on a board and, for that time, ten times the memory of the text: call it beside the
// loop.
Tokenizer read_tokenizer(std::string_view json);

}  // namespace rkllm_mcp::chat
