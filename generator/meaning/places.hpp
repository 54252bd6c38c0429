// Everything in a header that an overlay entry can be about.
#pragma once

#include "diagnostics.hpp"
#include "meaning/suggest.hpp"

#include <map>
#include <set>
#include <string>
#include <vector>

namespace bindgen {

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
