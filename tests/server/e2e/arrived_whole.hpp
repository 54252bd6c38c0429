// Comparing what a client saw of a stream with what the simulator wrote down.
#pragma once

#include "support/live_server.hpp"
#include "support/stream_check.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace rkllm_mcp::test {

// The record of the one run with that prompt.
inline RecordedRun run_of(const LiveServer& server, const std::string& prompt) {
  std::optional<RecordedRun> found;
  for (auto& run : server.recorded_runs()) {
    if (run.prompt != prompt) continue;
    if (found) throw std::runtime_error("two runs were recorded for " + prompt);
    found = std::move(run);
  }
  if (!found) throw std::runtime_error("no run was recorded for " + prompt);
  return *found;
}

// The first difference, in words; empty if the stream is complete and is byte for byte the recorded run of `prompt`,
// all of its tokens delivered.
inline std::string difference(const LiveServer& server, const StreamCheck& stream, const std::string& prompt,
                              std::uint64_t tokens) {
  if (!stream.ended()) return "the stream did not end";
  if (stream.ending().contains("error")) return "the stream ended with " + stream.ending().dump();
  if (stream.ending().contains("aborted")) return "the stream was aborted";
  const RecordedRun run = run_of(server, prompt);
  if (run.tokens != tokens) return "the simulator delivered " + std::to_string(run.tokens) + " tokens";
  if (stream.text() == run.text) return {};
  const auto shorter = std::min(run.text.size(), stream.text().size());
  std::size_t same = 0;
  while (same < shorter && run.text[same] == stream.text()[same]) ++same;
  return "the text differs at byte " + std::to_string(same) + " of " + std::to_string(run.text.size());
}

}  // namespace rkllm_mcp::test
