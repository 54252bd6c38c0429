#include "mcp/protocol/revisions.hpp"

#include "mcp/protocol/era.hpp"

#include <algorithm>
#include <array>
#include <iterator>

namespace rkllm_mcp {

std::span<const Revision* const> all_revisions() {
  static constexpr std::array<const Revision*, 6> kAll{&kRevision20241007, &kRevision20241105, &kRevision20250326,
                                                       &kRevision20250618, &kRevision20251125, &kRevision20260728};
  return kAll;
}

const Revision* find_revision(std::string_view name) {
  const auto all = all_revisions();
  const auto found = std::find_if(all.begin(), all.end(), [name](const auto* each) { return each->name == name; });
  return found == all.end() ? nullptr : *found;
}

const Revision& negotiated_revision(std::string_view asked_for) {
  const Revision* const found = find_revision(asked_for);
  return found != nullptr && found->era.has_handshake() ? *found : newest_handshake_revision();
}

const Revision& newest_handshake_revision() {
  const auto all = all_revisions();
  return **std::find_if(std::make_reverse_iterator(all.end()), std::make_reverse_iterator(all.begin()),
                        [](const auto* each) { return each->era.has_handshake(); });
}

std::vector<std::string> stateless_revisions() {
  std::vector<std::string> names;
  for (const auto* each : all_revisions()) {
    if (!each->era.has_handshake()) names.insert(names.begin(), std::string(each->name));
  }
  return names;
}

}  // namespace rkllm_mcp
