// Proposes overlay entries for declarations that have no meaning yet. C does not say what would make a proposal
// certain, so each tells how sure it is and why, and a guess is a placeholder, which is refused until a person has
// edited it.
#pragma once

#include "read/c_facts.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace bindgen {

// A field, a parameter or a returned value, with what stands beside it.
struct Declared {
  std::string path;
  std::string declaration;
  c::Type type;
  // The other integers, and pointers to integers, of the same struct or function that nothing says the meaning of: one
  // may be how many this points at. In order; those that follow come first, since a length usually does.
  std::vector<std::string> integers_beside;
  // Whether another number could tell how many, if less plainly: a float beside it, a number in a struct beside it, or
  // a number beside the struct that holds it, wherever that struct is used.
  bool has_numbers_around = false;
  std::string inside = {};  // the path of the union or struct declared in place that it is in
  bool is_union = false;
  bool is_anonymous = false;
  bool is_returned = false;
  bool is_param = false;
  bool is_array = false;     // a parameter that is declared as an array
  std::uint64_t extent = 0;  // and of how many elements; 0 for []
  unsigned bit_width = 0;    // of a bit-field; else 0
  bool is_opaque = false;    // points at a struct that the header does not define
  bool points_at_union = false;
  bool ends_openly = false;  // points at a struct whose last field is an array without a length, or with one element
  std::vector<std::string> pointers_beside = {};  // the others of the same type
  bool is_integer_handle = false;                 // an integer, of a type by which the header passes handles
};

// One entry, on one line, ready to be edited in the overlay.
std::string suggest_entry(const Declared& declared);
// Several, with the commas between them.
std::string suggest_entries(const std::vector<Declared>& declared);

}  // namespace bindgen
