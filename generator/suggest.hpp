// Proposes overlay entries for declarations that have no meaning yet. A proposal is to be read and corrected by a
// person; the tool never acts on it by itself.
#pragma once

#include "c_facts.hpp"

#include <string>
#include <vector>

namespace bindgen {

// A field or a parameter, with those beside it: a length is usually the next one.
struct Declared {
  std::string path;
  std::string declaration;
  c::Type type;
  std::vector<std::string> later_integers;  // names of the integers that follow it, in order
  std::string inside = {};                  // the path of the union or struct declared in place that it is in
  bool is_union = false;
  bool is_anonymous = false;
};

// One entry, on one line, ready to be pasted into the overlay.
std::string suggest_entry(const Declared& declared);
// Several, with the commas between them.
std::string suggest_entries(const std::vector<Declared>& declared);

}  // namespace bindgen
