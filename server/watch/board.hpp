// What a board's files tell of its NPU. Where they do not exist, or may not be read, there is nothing to tell.
#pragma once

#include <rkllm_mcp/json.hpp>

#include <filesystem>
#include <string>
#include <vector>

namespace rkllm_mcp {

// Metrics in Prometheus's text format; empty on a machine without such files. `root` is / but in tests.
//
// Sources: the driver's `load` ("NPU load:  Core0: 10%, Core1:  0%," or "NPU load: 10%") in the first that can be read
// of <root>/sys/kernel/debug/rknpu, <root>/proc/rknpu, <root>/run/rkllm-mcp/rknpu;
// <root>/sys/class/devfreq/*.npu/cur_freq (Hz), <root>/sys/class/thermal/thermal_zone*/{type,temp} (a type that names
// the NPU, thousandths of a degree Celsius).
std::string board_metrics(const std::filesystem::path& root);

// {"model","compatible","npu_driver"}; null for what is not known.
//
// Sources: <root>/proc/device-tree/{model,compatible}, the driver's `version` ("RKNPU driver: v0.9.8") beside its
// `load`.
Json board_description(const std::filesystem::path& root);

// What the metrics tell, for /health: {"driver","load","frequency_hz","temperature_celsius","remedy"}; `load` has a
// share of time for each core. Null for what is not known; where that is because only root may read the driver's files,
// `remedy` is the command that shows them to everybody, else null.
Json npu_status(const std::filesystem::path& root);

// Whether the kernel has the NPU's driver.
bool has_npu(const std::filesystem::path& root);

// The entries of a folder, in order; none if it cannot be read.
std::vector<std::filesystem::path> entries_of(const std::filesystem::path& folder);

}  // namespace rkllm_mcp
