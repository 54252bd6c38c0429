#include "emit/several_versions.hpp"

#include "emit/method_parts.hpp"

#include <algorithm>
#include <utility>

namespace bindgen {
namespace {

// How long the longest common list is of what begins at [i] in one and at [j] in the other.
std::vector<std::vector<std::size_t>> common_lengths(const std::vector<MergedPiece>& merged,
                                                     const std::vector<Piece>& pieces) {
  std::vector<std::vector<std::size_t>> lengths(merged.size() + 1, std::vector<std::size_t>(pieces.size() + 1));
  for (std::size_t i = merged.size(); i-- > 0;) {
    for (std::size_t j = pieces.size(); j-- > 0;) {
      lengths[i][j] = merged[i].piece.key == pieces[j].key ? lengths[i + 1][j + 1] + 1
                                                           : std::max(lengths[i + 1][j], lengths[i][j + 1]);
    }
  }
  return lengths;
}

Mask without(const Mask& among, const Mask& has) {
  Mask rest = among;
  for (std::size_t set = 0; set < rest.size(); ++set) rest[set] = among[set] && !has[set];
  return rest;
}

std::string range_text(const VersionRange& range) {
  std::string text = range.since.empty() ? "" : "from_version<Abi>(" + literal(range.since) + ")";
  if (range.until.empty()) return text;
  return text + (text.empty() ? "" : " && ") + "up_to_version<Abi>(" + literal(range.until) + ")";
}

}  // namespace

Piece piece_of(const Expression& statement, const std::string& field) {
  CodeText code;
  code.statement(statement);
  return {code.text(), [statement](CodeText& into) { into.statement(statement); }, field};
}

std::vector<MergedPiece> merge(const std::vector<std::vector<Piece>>& of_sets) {
  std::vector<MergedPiece> merged;
  for (std::size_t set = 0; set < of_sets.size(); ++set) {
    const std::vector<Piece>& pieces = of_sets[set];
    const auto lengths = common_lengths(merged, pieces);
    std::vector<MergedPiece> next;
    std::size_t i = 0;
    std::size_t j = 0;
    while (i < merged.size() || j < pieces.size()) {
      const bool is_same = i < merged.size() && j < pieces.size() && merged[i].piece.key == pieces[j].key;
      if (is_same) {
        next.push_back(std::move(merged[i++]));
        next.back().has[set] = true;
        ++j;
      } else if (j == pieces.size() || (i < merged.size() && lengths[i + 1][j] >= lengths[i][j + 1])) {
        next.push_back(std::move(merged[i++]));
      } else {
        next.push_back({pieces[j++], Mask(of_sets.size())});
        next.back().has[set] = true;
      }
    }
    merged = std::move(next);
  }
  return merged;
}

void emit_merged(CodeText& code, const std::vector<MergedPiece>& pieces, const Mask& among,
                 const ConditionOf& condition_of) {
  for (auto at = pieces.begin(); at != pieces.end();) {
    if (at->has == among) {
      (at++)->piece.emit(code);
      continue;
    }
    const Mask has = at->has;
    const auto emit_block = [&](const Mask& of) {
      code.indent();
      for (; at != pieces.end() && at->has == of; ++at) at->piece.emit(code);
      code.outdent();
    };
    code.line("if constexpr (" + condition_of(*at) + ") {");
    emit_block(has);
    const Mask rest = without(among, has);
    if (at != pieces.end() && at->has == rest) {
      code.line("} else {");
      emit_block(rest);
    }
    code.line("}");
  }
}

std::vector<VersionRange> ranges_of(const std::vector<Api>& sets, const Mask& has, const Mask& among) {
  std::vector<VersionRange> ranges;
  bool is_in_run = false;
  std::string last;          // version in the run
  bool is_first_one = true;  // nothing in question is older
  for (std::size_t set = 0; set < sets.size(); ++set) {
    if (!among[set]) continue;
    if (has[set] && !is_in_run) ranges.push_back({is_first_one ? "" : sets[set].version, ""});
    if (!has[set] && is_in_run) ranges.back().until = last;
    is_in_run = has[set];
    is_first_one = false;
    last = sets[set].version;
  }
  return ranges;
}

std::string condition_of(const std::vector<VersionRange>& ranges) {
  std::string text;
  for (const VersionRange& range : ranges) {
    const bool is_both = ranges.size() > 1 && !range.since.empty() && !range.until.empty();
    text += (text.empty() ? "" : " || ") + (is_both ? "(" + range_text(range) + ")" : range_text(range));
  }
  return text;
}

void SharedTexts::emit(CodeText& code, const std::string& name, const std::vector<std::vector<std::string>>& literals) {
  std::vector<std::vector<Piece>> of_sets;
  Mask among;
  for (const auto& of_set : literals) {
    of_sets.emplace_back();
    among.push_back(!of_set.empty());
    for (const std::string& text : of_set) of_sets.back().push_back({text, {}});
  }
  const auto pieces = merge(of_sets);
  if (std::all_of(pieces.begin(), pieces.end(), [&](const MergedPiece& each) { return each.has == among; })) {
    std::vector<std::string> all;
    for (const MergedPiece& each : pieces) all.push_back(each.piece.key);
    return code.string_constant(name, all);
  }
  emit_table(code, name, pieces, among);
}

void SharedTexts::emit_whole(CodeText& code, const std::string& name, const std::vector<std::string>& texts) {
  std::vector<std::vector<Piece>> of_sets;
  Mask among;
  std::string any;
  for (const std::string& text : texts) {
    of_sets.emplace_back();
    among.push_back(!text.empty());
    if (text.empty()) continue;
    of_sets.back().push_back({text, {}});
    any = text;
  }
  auto pieces = merge(of_sets);
  if (pieces.size() <= 1) return emit_text(code, name, any);
  for (MergedPiece& each : pieces) {  // adjacent literals, for what comes behind the text
    const auto lines = literal_lines(each.piece.key, 8);
    each.piece.key.clear();
    for (const std::string& line : lines) each.piece.key += (each.piece.key.empty() ? "" : "\n     ") + line;
  }
  emit_table(code, name, pieces, among);
}

void SharedTexts::emit_table(CodeText& code, const std::string& name, const std::vector<MergedPiece>& pieces,
                             const Mask& among) {
  varying_.push_back(name);
  code.line("inline constexpr VersionedText " + name + "[] = {");
  for (const MergedPiece& each : pieces) {
    for (const VersionRange& range : ranges_of(sets_, each.has, among)) {
      std::string bounds = range.until.empty() ? "" : ", " + literal(range.until);
      if (!range.since.empty() || !bounds.empty()) {
        bounds.insert(0, ", " + (range.since.empty() ? "{}" : literal(range.since)));
      }
      code.line("    {" + each.piece.key + bounds + "},");
    }
  }
  code.line("};");
}

std::string SharedTexts::operator[](const std::string& name) const {
  const bool varies = std::find(varying_.begin(), varying_.end(), name) != varying_.end();
  return varies ? "text_of<Abi, " + name + ">" : name;
}

}  // namespace bindgen
