// The board that this program runs on, as far as the choice of a model depends on it. Any thread.
#pragma once

#include "pull/hub.hpp"

#include <filesystem>
#include <string>

namespace rkllm_mcp {

// "rk3588", by <root>/proc/device-tree/compatible; "" if this is no such board.
std::string chip_of_board(const std::filesystem::path& root);

BoardFacts facts_of_this_board();

}  // namespace rkllm_mcp
