// What a revision of the protocol is, and the revisions that this library serves.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace rkllm_mcp::mcp {

class Era;

// One revision of the Model Context Protocol, as data. Handlers never ask which revision they serve; what differs
// between revisions is a member here, or a function of the revision's era.
//
// A new revision is one more line in revisions.cpp.
struct Revision {
  std::string_view name;  // "2025-06-18"
  const Era& era;
  std::span<const std::string_view> methods;  // that its clients may ask for
  bool batches = false;                       // several messages may come in one array
  bool audio = true;                          // content may be audio
  bool resource_links = true;                 // content may be links to resources
  bool primes_event_streams = false;          // its clients take an empty first event, from which a stream is resumed

  bool serves(std::string_view method) const {
    for (const auto each : methods) {
      if (each == method) return true;
    }
    return false;
  }
};

// Oldest first.
std::span<const Revision> all_revisions();
// Null if it is not served.
const Revision* find_revision(std::string_view name);

// The revision that `initialize` answers: the one asked for if it can be agreed on by a handshake, else the newest
// such.
const Revision& negotiated_revision(std::string_view asked_for);
// The revision of clients that have said nothing about it.
const Revision& newest_handshake_revision();
// The names of those without a handshake, newest first.
std::vector<std::string> stateless_revisions();

}  // namespace rkllm_mcp::mcp
