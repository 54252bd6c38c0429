// Several versions of one interface side by side: what they say alike is written once, and what only some of them say
// is told from the rest by a condition.
#pragma once

#include "emit/code_text.hpp"
#include "meaning/model.hpp"

#include <functional>
#include <string>
#include <vector>

namespace bindgen {

using Mask = std::vector<bool>;  // for each of the sets, from old to new

// A statement, or a line of a table.
struct Piece {
  std::string key;  // what must be the same for two pieces to be one
  std::function<void(CodeText&)> emit;
  std::string field = {};  // that it is about, if any
};
Piece piece_of(const Expression& statement, const std::string& field = "");

struct MergedPiece {
  Piece piece;
  Mask has;  // the sets with this piece
};
// The pieces of all sets as one list, in which those of each set keep their order. What stands in one place in
// different versions goes from old to new.
std::vector<MergedPiece> merge(const std::vector<std::vector<Piece>>& of_sets);

// Writes what merge() made. Where not all of the sets `among` have a piece, it stands behind `if constexpr` with the
// condition for these sets.
using ConditionOf = std::function<std::string(const MergedPiece&)>;
void emit_merged(CodeText& code, const std::vector<MergedPiece>& pieces, const Mask& among,
                 const ConditionOf& condition_of);

// The first and the last version of a run of neighbours; empty where nothing in question is older, or newer.
struct VersionRange {
  std::string since;
  std::string until;
};
// Which of the sets `among` are meant by `has`, as few runs as possible.
std::vector<VersionRange> ranges_of(const std::vector<Api>& sets, const Mask& has, const Mask& among);
// The same as a condition on the type Abi.
std::string condition_of(const std::vector<VersionRange>& ranges);

// Names that hold text of all sets, and how a template over Abi reads them.
class SharedTexts {
 public:
  explicit SharedTexts(const std::vector<Api>& sets) : sets_(sets) {}

  // Writes a constant. Each set has a list of literals; one without any has no such text.
  void emit(CodeText& code, const std::string& name, const std::vector<std::vector<std::string>>& literals);
  // As emit(), for texts that are shared as a whole or not at all: one of each set, empty if it has none.
  void emit_whole(CodeText& code, const std::string& name, const std::vector<std::string>& texts);

  // "kInput_f", or "text_of<Abi, kInput_f>" where versions differ.
  std::string operator[](const std::string& name) const;

 private:
  void emit_table(CodeText& code, const std::string& name, const std::vector<MergedPiece>& pieces, const Mask& among);

  const std::vector<Api>& sets_;
  std::vector<std::string> varying_;
};

}  // namespace bindgen
