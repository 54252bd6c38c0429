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
// with_renames(). Of documentation only the deprecation is compared; for the rest see documentation_changes().
std::vector<Change> diff(const c::Header& before, const c::Header& after);

// The worst of what `changes` break.
Breaks breaks(const std::vector<Change>& changes);

// --- parts of diff()

std::vector<Change> enumerator_changes(const c::Header& before, const c::Header& after);

// A removed and an added symbol become a renamed one if they are alike in all but the name, and no third one is like
// them: structs and enums are compared by what they hold, functions by their signature, enumerators by their value in
// one enum, fields by their type and place in one struct. If all enumerators of an enum begin with other words than
// before, they, and the enum, are alike if they end alike. Symbols must also have similar names, unless they hold the
// same names, as structs with the same fields do: a new thing in the place of an old one is not the old one. A
// typedef, or an opaque struct, is also known by what uses it: a function that has the new name where it had the old
// one. What differs only in the names of renamed opaque structs and enums breaks no binaries. A field that one struct
// loses and another one gains, with the same name and type, has moved.
std::vector<Change> with_renames(std::vector<Change> changes, const c::Header& before, const c::Header& after);

// What both headers declare and only one says is deprecated: changes with "deprecation" added or removed. diff() lists
// them, since a compiler warns of the use of such things, and the next version may be without them.
std::vector<Change> deprecation_changes(const c::Header& before, const c::Header& after,
                                        const std::vector<Change>& changes);

// --- words

// Words alone can turn a meaning around, and no compiler sees it. Of everything that both headers declare:
// documentation that was added, removed or reworded, however it is wrapped. None of it breaks anything. The words that
// deprecation_changes() reports are left out here. In the order of the later header. `changes` are those of diff():
// with them, what was renamed or moved is compared with what it was before. A parameter whose name is new is compared
// with the old one at its place.
std::vector<Change> documentation_changes(const c::Header& before, const c::Header& after,
                                          const std::vector<Change>& changes);

// --- how a comparison is told: to a person, to a page, to a program

// `before` and `after` are how the two headers are called.
std::string diff_as_text(const std::vector<Change>& changes, const std::string& before, const std::string& after);
std::string diff_as_markdown(const std::vector<Change>& changes, const std::string& before, const std::string& after);
std::string diff_as_json(const std::vector<Change>& changes, const std::string& before, const std::string& after);

// One change in one line: "moved field S.a: @8/4 -> @16/8".
std::string line_of(const Change& change);

}  // namespace bindgen
