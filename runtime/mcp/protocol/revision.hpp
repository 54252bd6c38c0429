// One revision of the Model Context Protocol, as data. Handlers never ask which revision they serve; what differs
// between revisions is a member here, or a function of the revision's era.
//
// A new revision is one more line in revisions.cpp.
#pragma once

#include <span>
#include <string_view>

namespace rkllm_mcp {

class Era;

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

}  // namespace rkllm_mcp
