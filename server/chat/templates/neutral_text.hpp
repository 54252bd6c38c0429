// What others have written must stay text: a user, a web page or a tool's result that contains "<|im_end|>" would else
// end its own turn and begin another in somebody else's name.
#pragma once

#include "chat/templates/family.hpp"

#include <string>
#include <string_view>

namespace rkllm_mcp::chat {

// `text` with a space behind the first character of all that the family's tokenizer could take for a special token. It
// stays readable, and is shown as what it is.
std::string neutral_text(const Family& family, std::string_view text);

}  // namespace rkllm_mcp::chat
