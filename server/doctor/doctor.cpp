#include "doctor/doctor.hpp"

#include "text/regular_file.hpp"

#include <unistd.h>

#include <algorithm>
#include <iterator>

namespace rkllm_mcp::doctor {
namespace {

constexpr std::size_t kLongestText = std::size_t{1} << 20U;

}  // namespace

Identity Identity::own() {
  Identity identity{::geteuid(), {}};
  const int count = ::getgroups(0, nullptr);
  identity.groups.resize(static_cast<std::size_t>(std::max(count, 0)));
  if (count > 0) ::getgroups(count, identity.groups.data());
  identity.groups.push_back(::getegid());
  return identity;
}

std::string text_of(const Machine& machine, std::string_view path) {
  return try_read_regular_file((machine.root / path).string(), kLongestText).value_or(std::string());
}

std::string platform_of(const Machine& machine) {
  // "radxa,rock-5b\0rockchip,rk3588\0": the last is the chip.
  std::string text = text_of(machine, "proc/device-tree/compatible");
  while (!text.empty() && text.back() == '\0') text.pop_back();
  constexpr std::string_view kMaker = "rockchip,";
  const auto at = text.rfind(kMaker);
  if (at == std::string::npos) return {};
  std::string chip = text.substr(at + kMaker.size());
  chip = chip.substr(0, chip.find('\0'));
  return chip == "rk3588s" ? "rk3588" : chip;
}

Findings examine(const Machine& machine) {
  Findings all;
  for (const auto part : {examine_library, examine_npu, examine_models, examine_speed, examine_limits, examine_ports,
                          examine_secrets, examine_network}) {
    Findings some = part(machine);
    std::move(some.begin(), some.end(), std::back_inserter(all));
  }
  return all;
}

}  // namespace rkllm_mcp::doctor
