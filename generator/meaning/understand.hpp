// Joins facts and overlay: every declaration gets a meaning, or the header is refused with the entries to write.
// Before that, what is not needed of a large header is left out; afterwards, each version is told what it lacks.
#pragma once

#include "diagnostics.hpp"
#include "meaning/model.hpp"
#include "meaning/suggest.hpp"
#include "overlay/overlay.hpp"
#include "read/c_facts.hpp"

#include <map>
#include <set>
#include <string>
#include <vector>

namespace bindgen {

// Throws Refusal listing, with the line of the header and the line of the overlay, every entry that matches nothing or
// whose quote no longer matches, and every declaration that has no meaning, with the entry to write.
Api understand(c::Header header, const Overlay& overlay, const std::string& version);

// What a header still needs before it can be understood.
struct Needs {
  std::vector<Declared> unanswered;    // no type and no entry says what these mean
  std::vector<Diagnostic> in_the_way;  // what no further entry mends: C that has no wire form, entries that do not fit
};

Needs needs_of(c::Header header, const Overlay& overlay);

// Of a large header only these functions, and the types that they reach: an overlay may name the functions that become
// methods. Enums and macros stay: they are facts that stand for themselves.
c::Header needed_by(c::Header header, const std::set<std::string>& functions, const std::set<std::string>& types = {});

// What each version lacks: a call that uses it is then told which runtime it needs, not just that it is wrong. Fills in
// Api::elsewhere and Api::names_elsewhere of all versions, which go from old to new.
void note_elsewhere(std::vector<Api>& sets);

// --- everything in a header that an overlay entry can be about

enum class PlaceKind { kPart, kReturn, kFunction, kCallback, kAlias };  // a part is a field or a parameter

struct Place {
  PlaceKind kind;
  std::string declaration;
  Location at;
};

struct Places {
  std::map<std::string, Place> by_path;
  std::vector<Declared> parts;  // in the order of the header, as the next
  std::vector<Declared> returns;
  std::set<std::string> params;        // paths of parameters
  std::vector<Diagnostic> complaints;  // about C that no entry can give a wire form
};

Places places_in(const c::Header& header);

}  // namespace bindgen
