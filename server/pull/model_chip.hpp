// Which chip a model file was made for, by its name: the file itself does not say so in a documented way. Rockchip's
// tools and the hub's authors spell it alike ("Qwen3-1.7B-rk3588-w8a8_1.2.1.rkllm"). Pure functions, any thread.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace rkllm_mcp {

// "rk3588", in whichever case it is written; nothing if the name has no chip in it.
std::optional<std::string> chip_in_name(std::string_view name);

}  // namespace rkllm_mcp
