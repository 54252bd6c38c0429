#include "ledger.hpp"

#include <map>
#include <string_view>
#include <utility>

namespace rkllm_mcp::test {
namespace {

constexpr std::size_t kComplaints = 20;  // more are not printed

std::string_view name_of(Ending ending) {
  switch (ending) {
    case Ending::kWhole: return "whole";
    case Ending::kAborted: return "aborted";
    case Ending::kRefused: return "refused";
    case Ending::kCut: return "cut";
    case Ending::kKilled: return "killed";
  }
  return "";
}

bool tells_the_end(Ending ending) { return ending == Ending::kWhole || ending == Ending::kAborted; }

}  // namespace

void Ledger::note(SeenStream stream) {
  const std::lock_guard lock(mutex_);
  streams_.push_back(std::move(stream));
}

Verdict Ledger::verdict(const std::vector<RecordedRun>& runs) const {
  const std::lock_guard lock(mutex_);
  Verdict verdict;
  std::multimap<std::string_view, const RecordedRun*> by_prompt;
  for (const RecordedRun& run : runs) {
    by_prompt.emplace(run.prompt, &run);
    verdict.tokens += run.tokens;
  }
  const auto complain = [&](std::uint64_t& count, const SeenStream& stream, const char* what) {
    ++count;
    if (verdict.complaints.size() >= kComplaints) return;
    verdict.complaints.push_back(std::string(what) + ": a stream that ended " + std::string(name_of(stream.ending)) +
                                 " after " + std::to_string(stream.text.size()) + " bytes, " + stream.prompt);
  };
  for (const SeenStream& stream : streams_) {
    ++verdict.streams;
    const auto [first, last] = by_prompt.equal_range(stream.prompt);
    if (first == last) {
      // A worker that is killed leaves no record, and neither does a run that was cancelled before it began.
      if (stream.ending == Ending::kWhole) complain(verdict.mixed, stream, "nothing was run");
      continue;
    }
    if (std::next(first) != last) complain(verdict.duplicated, stream, "run more than once");
    const std::string& delivered = first->second->text;
    if (!delivered.starts_with(stream.text)) {
      complain(verdict.mixed, stream, "what arrived is not what was delivered");
    } else if (tells_the_end(stream.ending) && stream.text.size() < delivered.size()) {
      complain(verdict.lost, stream, "the end did not arrive");
    }
  }
  return verdict;
}

}  // namespace rkllm_mcp::test
