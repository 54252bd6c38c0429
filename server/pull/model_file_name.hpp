// What a model was made for, and with, by its file's name: the file itself does not say so in a documented way.
// Rockchip's tools and the hub's authors spell it alike ("Qwen3-1.7B-rk3588-w8a8_1.2.1.rkllm"). Pure functions, any
// thread.
#pragma once

#include "text/release.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace rkllm_mcp {

// "rk3588", in whichever case it is written; nothing if the name has no chip in it.
std::optional<std::string> chip_in_name(std::string_view name);

// So many bytes at least, by the number of weights and the bits of each: 7'000'000'000 of "Qwen-7B-rk3588-w8a8", half
// of that with "w4a16". Nothing if the name does not say both.
std::optional<std::int64_t> least_bytes_in(std::string_view name);

// The release of the toolkit: {1, 2, 1} of the name above, as of "…-v1.2.1b1-rk3588". Of several the last. Numbers of
// two parts are those of models ("Qwen2.5"), and so are dates ("2025.07.10"), and what does not begin with 1. Nothing
// if there are none.
std::optional<Release> release_in(std::string_view name);

}  // namespace rkllm_mcp
