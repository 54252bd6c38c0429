#include "mcp/protocol/revisions.hpp"

#include "mcp/protocol/era.hpp"

#include <algorithm>
#include <array>
#include <iterator>

namespace rkllm_mcp::mcp {

namespace {

// What clients of the handshake revisions may ask for; in this they do not differ.
constexpr std::array<std::string_view, 13> kHandshakeMethods{"initialize",
                                                             "ping",
                                                             "tools/list",
                                                             "tools/call",
                                                             "resources/list",
                                                             "resources/templates/list",
                                                             "resources/read",
                                                             "resources/subscribe",
                                                             "resources/unsubscribe",
                                                             "prompts/list",
                                                             "prompts/get",
                                                             "completion/complete",
                                                             "logging/setLevel"};
constexpr std::array<std::string_view, 13> kStatelessMethods{
    "server/discover", "tools/list",   "tools/call",  "resources/list",      "resources/templates/list",
    "resources/read",  "prompts/list", "prompts/get", "completion/complete", "subscriptions/listen",
    "tasks/get",       "tasks/update", "tasks/cancel"};

}  // namespace

std::span<const Revision> all_revisions() {
  // A constant table. In the function, and not constexpr, because it refers to the eras, which are made when they are
  // first asked for.
  static const std::array<Revision, 6> kAll{{
      // A pre-release that the official clients still list: served like 2024-11-05.
      {.name = "2024-10-07",
       .era = handshake_era(),
       .methods = kHandshakeMethods,
       .audio = false,
       .resource_links = false},
      // The first: stdio, and HTTP with a separate event stream.
      {.name = "2024-11-05",
       .era = handshake_era(),
       .methods = kHandshakeMethods,
       .audio = false,
       .resource_links = false},
      // Adds Streamable HTTP, audio, and batches, which the next one takes back.
      {.name = "2025-03-26",
       .era = handshake_era(),
       .methods = kHandshakeMethods,
       .batches = true,
       .resource_links = false},
      // Adds structured output, links to resources, elicitation, and the version header.
      {.name = "2025-06-18", .era = handshake_era(), .methods = kHandshakeMethods},
      // Adds event streams that can be resumed from their beginning, and icons. The last one with a handshake.
      {.name = "2025-11-25", .era = handshake_era(), .methods = kHandshakeMethods, .primes_event_streams = true},
      // No handshake and no sessions: every request says who asks, and in which revision.
      {.name = "2026-07-28", .era = stateless_era(), .methods = kStatelessMethods},
  }};
  return kAll;
}

const Revision* find_revision(std::string_view name) {
  const auto all = all_revisions();
  const auto found = std::find_if(all.begin(), all.end(), [name](const auto& each) { return each.name == name; });
  return found == all.end() ? nullptr : &*found;
}

const Revision& negotiated_revision(std::string_view asked_for) {
  const Revision* const found = find_revision(asked_for);
  return found != nullptr && found->era.has_handshake() ? *found : newest_handshake_revision();
}

const Revision& newest_handshake_revision() {
  const auto all = all_revisions();
  return *std::find_if(std::make_reverse_iterator(all.end()), std::make_reverse_iterator(all.begin()),
                       [](const auto& each) { return each.era.has_handshake(); });
}

std::vector<std::string> stateless_revisions() {
  std::vector<std::string> names;
  for (const auto& each : all_revisions()) {
    if (!each.era.has_handshake()) names.insert(names.begin(), std::string(each.name));
  }
  return names;
}

}  // namespace rkllm_mcp::mcp
