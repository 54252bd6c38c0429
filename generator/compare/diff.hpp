// What changed between two versions of a C interface, and whom it concerns: a program that was compiled for the one and
// meets the other (the ABI), or a source that is compiled anew (the API).
#pragma once

#include "read/c_facts.hpp"

#include <optional>
#include <string>
#include <vector>

namespace bindgen {

enum class ChangeKind { kAdded, kRemoved, kChanged, kMoved, kResized, kRenamed, kReworded };

// kNone: what worked before still does. Whatever breaks the ABI concerns sources as well.
enum class Breaks { kNone, kApi, kAbi };

// A declaration on one side of a change. Which members are set depends on what has changed.
struct Side {
  std::string declaration;  // "bool use_gpu", "int f(void)"; for a macro or an enumerator its value; for what was
                            // renamed (unless is_guess) or moved its name; for documentation its text
  std::optional<Layout> layout = {};  // of a field its offset, of a struct or an enum its size
  std::optional<Layout> bit = {};     // of a bit-field, behind that offset
  bool operator==(const Side&) const = default;
};

struct Change {
  ChangeKind kind = ChangeKind::kChanged;
  Breaks breaks = Breaks::kNone;
  std::string what;            // "macro", "typedef", "enum", "enumerator", "struct", "union", "field", ...; or
                               // "deprecation", if the symbol is deprecated only before or only after
  std::string name;            // "Struct.field" or the symbol's own
  std::optional<Side> before;  // none if it was added
  std::optional<Side> after;   // none if it was removed
  Location at;                 // in the later header; in the earlier one if it was removed
  bool is_guess = false;       // of a rename: it is only inferred, from a layout or a signature that nothing else has
};

// Symbols in the order of the later header, then those that are gone, then enumerators. If a symbol was added or
// removed as a whole, its parts are not listed. If a change of one struct changes another one (its size, offsets of
// later fields), that is listed for the other one as well. What has another name now is listed as renamed, see
// renames.hpp. Of documentation only the deprecation is compared; for the rest see documentation_changes().
std::vector<Change> diff(const c::Header& before, const c::Header& after);

// The worst of what `changes` break.
Breaks breaks(const std::vector<Change>& changes);

}  // namespace bindgen
