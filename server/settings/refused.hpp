// Settings that cannot be used, with everything that is wrong with them at once.
#pragma once

#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace rkllm_mcp {

// One thing that is wrong: the setting's path and what was expected there.
struct Complaint {
  std::string path;
  std::string text;
};

class SettingsRefused : public std::runtime_error {
 public:
  // Each line says where, which setting, what was expected, what was found: "settings.json:12: http.port: expected …".
  explicit SettingsRefused(std::vector<std::string> lines)
      : std::runtime_error(joined(lines)), lines_(std::move(lines)) {}
  const std::vector<std::string>& lines() const noexcept { return lines_; }

 private:
  static std::string joined(const std::vector<std::string>& lines) {
    std::string text;
    for (const auto& line : lines) text.append(text.empty() ? "" : "\n").append(line);
    return text;
  }

  std::vector<std::string> lines_;
};

}  // namespace rkllm_mcp
