#include "doctor/doctor.hpp"

#include "pull/hub.hpp"
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

std::string platform_of(const Machine& machine) { return chip_of_board(machine.root); }

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
