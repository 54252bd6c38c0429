#include "fuzz/overlay_target.hpp"

#include "check/rules.hpp"
#include "diagnostics.hpp"
#include "emit/emit.hpp"
#include "meaning/suggest.hpp"
#include "meaning/understand.hpp"
#include "overlay/overlay.hpp"
#include "read/header.hpp"

#include <stdexcept>
#include <vector>

namespace bindgen::test {
namespace {

const std::vector<std::string> kVersions = {"1.0", "2.0"};

const c::Header& every_idiom() {
  static const c::Header kHeader = read_header(EVERY_IDIOM);  // clang takes longer than all the rest
  return kHeader;
}

void use(const Overlay& overlay) {
  suggest_entries(needs_of(every_idiom(), at_version(overlay, "")).unanswered);
  refuse_idle_entries(overlay, kVersions);
  std::vector<Api> sets;
  for (const std::string& version : kVersions) {
    sets.push_back(understand(every_idiom(), at_version(overlay, version), version));
    sets.back().stands_for = {version};
    check(sets.back());
  }
  note_elsewhere(sets);
  emit(sets);
}

}  // namespace

bool take_overlay(const std::string& text) {
  try {
    use(parse_overlay(text, "x.overlay.json"));
    return true;
  } catch (const Refusal& refusal) {
    if (refusal.diagnostics().empty()) throw std::logic_error("refused without a complaint");
    for (const Diagnostic& complaint : refusal.diagnostics()) {
      if (complaint.at.file.empty() || complaint.message.empty()) throw std::logic_error("a complaint of nothing");
    }
    return false;
  }
}

}  // namespace bindgen::test
