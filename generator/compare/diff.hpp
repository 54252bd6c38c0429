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
  std::string declaration;  // "bool use_gpu", "int f(void)"; of macros and enumerators the value; of what was renamed
                            // (but for guesses) or moved elsewhere the name, of documentation its text
  std::optional<Layout> layout = {};  // of a field its offset, of a struct or an enum its size
  std::optional<Layout> bit = {};     // of a bit-field, behind that offset
  bool operator==(const Side&) const = default;
};

struct Change {
  ChangeKind kind = ChangeKind::kChanged;
  Breaks breaks = Breaks::kNone;
  std::string what;            // "macro", "typedef", "enum", "enumerator", "struct", "union", "field", ...; or
                               // "deprecation", of what is deprecated now, or is it no longer
  std::string name;            // "Struct.field" or the symbol's own
  std::optional<Side> before;  // none if it was added
  std::optional<Side> after;   // none if it was removed
  Location at;                 // in the later header; in the earlier one if it was removed
  bool is_guess = false;       // of what was renamed: only the layout or the signature says so, and no other has it
};

// Symbols in the order of the later header, then those that are gone, then enumerators. What is said of a symbol that
// was added or removed as a whole is not said again of its parts; what follows in one struct from a change of another
// (its size, the offsets behind it) is told where it is seen. What has another name now is told as that, see
// renames.hpp. Of documentation only what is deprecated is compared; for the rest see documentation_changes().
std::vector<Change> diff(const c::Header& before, const c::Header& after);

// The worst of what `changes` break.
Breaks breaks(const std::vector<Change>& changes);

}  // namespace bindgen
