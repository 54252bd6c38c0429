#include "watch/board.hpp"

#include "text/ascii.hpp"
#include "text/regular_file.hpp"
#include "watch/metrics.hpp"

#include <algorithm>
#include <charconv>
#include <optional>
#include <string_view>
#include <system_error>
#include <vector>

namespace rkllm_mcp {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kLongestFile = 4096;  // a page, which is what the kernel gives at most

// Empty if it cannot be read: a driver that is busy or asleep answers a read with an error.
std::string content_of(const fs::path& path) {
  return try_read_regular_file(path.string(), kLongestFile).value_or(std::string());
}

// A file of the NPU's driver, "load" or "version": in debugfs, which usually only root may enter; in /proc, as kernels
// built with CONFIG_ROCKCHIP_RKNPU_PROC_FS have it; or where packaging/systemd shows debugfs's to the service.
std::string of_driver(const fs::path& root, const char* name) {
  for (const char* const folder : {"sys/kernel/debug/rknpu", "proc/rknpu", "run/rkllm-mcp/rknpu"}) {
    std::string content = content_of(root / folder / name);
    if (!content.empty()) return content;
  }
  return {};
}

std::optional<double> number_in(std::string_view text) {
  const auto first = text.find_first_of("0123456789");
  if (first == std::string_view::npos) return std::nullopt;
  double value = 0;
  std::from_chars(text.data() + first, text.data() + text.size(), value);
  return value;
}

// The share of time that each core was busy; empty if it is not known.
std::vector<double> loads_of_cores(const fs::path& root) {
  std::vector<double> loads;
  const std::string load = of_driver(root, "load");
  std::string_view rest = load;
  if (!rest.starts_with("NPU load:")) return loads;
  rest.remove_prefix(rest.find(':') + 1);
  while (rest.find('%') != std::string_view::npos) {
    std::string_view part = rest.substr(0, rest.find('%'));
    rest.remove_prefix(part.size() + 1);
    if (const auto colon = part.find(':'); colon != std::string_view::npos) part.remove_prefix(colon + 1);
    if (const auto percent = number_in(part)) loads.push_back(*percent / 100);
  }
  return loads;
}

std::optional<double> frequency(const fs::path& root) {
  for (const fs::path& device : entries_of(root / "sys/class/devfreq")) {
    if (device.extension() != ".npu") continue;
    if (const auto hertz = number_in(content_of(device / "cur_freq"))) return hertz;
  }
  return std::nullopt;
}

std::optional<double> temperature(const fs::path& root) {
  for (const fs::path& zone : entries_of(root / "sys/class/thermal")) {
    if (content_of(zone / "type").find("npu") == std::string::npos) continue;
    if (const auto thousandths = number_in(content_of(zone / "temp"))) return *thousandths / 1000;
  }
  return std::nullopt;
}

void print_one(std::string& text, std::string_view name, std::string_view help, std::optional<double> value) {
  if (!value) return;
  print_family(text, name, "gauge", help);
  print_sample(text, name, "", *value);
}

// The texts of a device tree's property, each of which ends with U+0000.
Json texts_of(const std::string& property) {
  Json texts = Json::array();
  for (std::size_t at = 0; at < property.size();) {
    const auto end = std::min(property.find('\0', at), property.size());
    if (end > at) texts.push_back(property.substr(at, end - at));
    at = end + 1;
  }
  return texts;
}

Json npu_driver(const fs::path& root) {
  const std::string version = of_driver(root, "version");
  const auto colon = version.find(": ");
  if (colon == std::string::npos) return nullptr;
  return first_line(std::string_view(version).substr(colon + 2));
}

}  // namespace

std::vector<fs::path> entries_of(const fs::path& folder) {
  std::vector<fs::path> entries;
  std::error_code unreadable;
  for (fs::directory_iterator each(folder, unreadable), end; !unreadable && each != end; each.increment(unreadable)) {
    entries.push_back(each->path());
  }
  std::sort(entries.begin(), entries.end());
  return entries;
}

Json board_description(const std::filesystem::path& root) {
  const Json model = texts_of(content_of(root / "proc/device-tree/model"));
  Json compatible = texts_of(content_of(root / "proc/device-tree/compatible"));
  return Json{{"model", model.empty() ? Json(nullptr) : model[0]},
              {"compatible", compatible.empty() ? Json(nullptr) : std::move(compatible)},
              {"npu_driver", npu_driver(root)}};
}

bool has_npu(const fs::path& root) {
  for (const fs::path& device : entries_of(root / "sys/class/devfreq")) {
    if (device.extension() == ".npu") return true;
  }
  std::error_code error;
  return fs::exists(root / "sys/bus/platform/drivers/RKNPU", error) || fs::exists(root / "dev/rknpu", error);
}

std::string board_metrics(const std::filesystem::path& root) {
  constexpr std::string_view kLoad = "rkllm_mcp_npu_load_ratio";
  std::string text;
  const std::vector<double> loads = loads_of_cores(root);
  if (!loads.empty()) print_family(text, kLoad, "gauge", "Share of time that the NPU's cores were busy.");
  for (std::size_t core = 0; core < loads.size(); ++core) {
    print_sample(text, kLoad, label("core", std::to_string(core)), loads[core]);
  }
  print_one(text, "rkllm_mcp_npu_frequency_hertz", "Clock of the NPU.", frequency(root));
  print_one(text, "rkllm_mcp_npu_temperature_celsius", "Temperature of the NPU.", temperature(root));
  constexpr std::string_view kDriver = "rkllm_mcp_npu_driver_info";
  if (const Json version = npu_driver(root); version.is_string()) {
    print_family(text, kDriver, "gauge", "Always 1: the version of the NPU's driver.");
    print_sample(text, kDriver, label("version", version.get<std::string>()), 1);
  }
  return text;
}

Json npu_status(const std::filesystem::path& root) {
  // debugfs is root's; what is bound elsewhere is not below the folder that keeps others out. See of_driver().
  constexpr const char* kRemedy =
      "sudo mkdir -p /run/rkllm-mcp/rknpu && sudo mount --bind /sys/kernel/debug/rknpu /run/rkllm-mcp/rknpu";
  const auto or_null = [](const std::optional<double>& value) { return value ? Json(*value) : Json(nullptr); };
  const std::vector<double> loads = loads_of_cores(root);
  Json driver = npu_driver(root);
  const bool is_hidden = (driver.is_null() || loads.empty()) && has_npu(root);
  return Json{{"driver", std::move(driver)},
              {"load", loads.empty() ? Json(nullptr) : Json(loads)},
              {"frequency_hz", or_null(frequency(root))},
              {"temperature_celsius", or_null(temperature(root))},
              {"remedy", is_hidden ? Json(kRemedy) : Json(nullptr)}};
}

}  // namespace rkllm_mcp
