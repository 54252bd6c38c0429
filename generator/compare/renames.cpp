// Which removed and added symbols are one that has another name now (diff.hpp).
#include "compare/diff.hpp"

#include "read/declaration.hpp"

#include <algorithm>
#include <cctype>
#include <map>
#include <set>
#include <string>
#include <utility>

namespace bindgen {
namespace {

std::string parent_of(const std::string& path) {
  const auto dot = path.rfind('.');
  return dot == std::string::npos ? "" : path.substr(0, dot);
}
std::string last_of(const std::string& path) { return path.substr(path.rfind('.') + 1); }

// With each whole word `from` as `to`.
std::string renamed(std::string text, const std::string& from, const std::string& to) {
  const auto is_part = [&](std::size_t at) {
    return at < text.size() && (std::isalnum(static_cast<unsigned char>(text[at])) != 0 || text[at] == '_');
  };
  for (auto at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size())) {
    if ((at > 0 && is_part(at - 1)) || is_part(at + from.size())) {
      at += from.size() - std::min(from.size(), to.size());
      continue;
    }
    text.replace(at, from.size(), to);
  }
  return text;
}

// Spelled as if nobody cared how words are joined: modelPath and model_path are one name.
std::string plain(const std::string& name) {
  std::string text;
  for (const char character : name) {
    if (character != '_') text += static_cast<char>(std::tolower(static_cast<unsigned char>(character)));
  }
  return text;
}

// Whether most of the longer name is a beginning and an end that the other one has, too.
bool are_similar(const std::string& one_name, const std::string& other_name) {
  const std::string one = plain(one_name);
  const std::string other = plain(other_name);
  const std::size_t shorter = std::min(one.size(), other.size());
  std::size_t begin = 0;
  while (begin < shorter && one[begin] == other[begin]) ++begin;
  std::size_t end = 0;
  while (end < shorter - begin && one[one.size() - 1 - end] == other[other.size() - 1 - end]) ++end;
  return (begin + end) * 5 >= std::max(one.size(), other.size()) * 3;
}

// Whether a word begins there: "run" in "OLD_run", "Run" in "kRun".
bool begins_word(const std::string& name, std::size_t at) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(name[i]); };
  return (name[at - 1] == '_' && name[at] != '_') || (std::islower(byte(at - 1)) != 0 && std::isupper(byte(at)) != 0);
}

std::vector<std::string> words_of(const std::string& name) {
  std::vector<std::string> words;
  for (std::size_t at = 0; at < name.size(); ++at) {
    if (words.empty() || begins_word(name, at)) words.emplace_back();
    if (name[at] != '_') words.back() += static_cast<char>(std::tolower(static_cast<unsigned char>(name[at])));
  }
  return words;
}

// Whether it says something else: READ_DONE and SEND_DONE, OPEN and NOT_OPEN; but not kB and K_B, FINISH and FINISHED.
bool has_another_word(const std::string& one_name, const std::string& other_name) {
  if (plain(one_name) == plain(other_name)) return false;
  const std::vector<std::string> one = words_of(one_name);
  const std::vector<std::string> other = words_of(other_name);
  const auto is_one_word = [](const std::string& left, const std::string& right) {
    const auto& [shorter, longer] =
        std::minmax(left, right, [](const auto& a, const auto& b) { return a.size() < b.size(); });
    static const std::set<std::string> kEndings = {"", "s", "es", "d", "ed", "ing"};
    return longer.starts_with(shorter) && kEndings.count(longer.substr(shorter.size())) != 0;
  };
  return !std::equal(one.begin(), one.end(), other.begin(), other.end(), is_one_word);
}

// How many characters the words have that all of these begin with; something is left of each.
std::size_t common_beginning(const std::vector<std::string>& names) {
  if (names.empty()) return 0;
  const auto all = [&](auto holds) { return std::all_of(names.begin(), names.end(), holds); };
  std::size_t beginning = 0;
  for (std::size_t at = 1;
       all([&](const std::string& name) { return at < name.size() && name[at - 1] == names.front()[at - 1]; }); ++at) {
    if (all([&](const std::string& name) { return begins_word(name, at); })) beginning = at;
  }
  return beginning;
}

// Of each name what stands behind what all of them begin with.
std::map<std::string, std::string> ends_of(const std::vector<std::string>& names) {
  const std::size_t beginning = common_beginning(names);
  std::map<std::string, std::string> ends;
  for (const std::string& name : names) ends.emplace(name, plain(name.substr(beginning)));
  return ends;
}

std::vector<std::string> enumerator_names(const c::Enum& entity) {
  std::vector<std::string> names;
  for (const c::Enumerator& one : entity.enumerators) names.push_back(one.name);
  return names;
}

// For the enumerators that `changes` tell as `kind`, what is left of each name without the words that all those of its
// enum begin with.
class Ends {
 public:
  Ends(const c::Header& header, const std::vector<Change>& changes, ChangeKind kind) {
    std::set<std::string> told;
    for (const Change& change : changes) {
      if (change.kind == kind && change.what == "enumerator") told.insert(last_of(change.name));
    }
    for (const c::Enum* entity : c::all<c::Enum>(header)) {
      const std::vector<std::string> all = enumerator_names(*entity);
      std::vector<std::string> names;
      std::copy_if(all.begin(), all.end(), std::back_inserter(names),
                   [&](const std::string& name) { return told.count(name) != 0; });
      ends_.merge(ends_of(names));
      if (names.size() > 1 && common_beginning(names) == common_beginning(all))
        behind_beginning_.insert(names.begin(), names.end());
    }
  }

  const std::string& of(const std::string& path) const { return ends_.at(last_of(path)); }
  // Whether the name begins with the words that all enumerators of its enum begin with: not so READ_OK beside NONE,
  // where READ is part of what it says. False if the changes name no other one of that enum: one name does not show
  // these words.
  bool is_behind_beginning_of_enum(const std::string& path) const {
    return behind_beginning_.count(last_of(path)) != 0;
  }

 private:
  std::map<std::string, std::string> ends_;
  std::set<std::string> behind_beginning_;
};

class Matcher {
 public:
  // `known`: the changes so far. Types that they tell as renamed are compared by their new names.
  Matcher(const c::Header& before, const c::Header& after, const std::vector<Change>& known)
      : before_(before),
        after_(after),
        known_(known),
        ends_before_(before, known, ChangeKind::kRemoved),
        ends_after_(after, known, ChangeKind::kAdded) {
    for (const Change& change : known) {
      const bool is_of_type = change.kind == ChangeKind::kRenamed && change.what != "function" &&
                              change.what != "field" && change.what != "enumerator" && change.what != "macro" &&
                              change.what != "variable";
      if (is_of_type) types_.emplace_back(change.before->declaration, change.name);
    }
  }

  // `sure`: the names are alike, too. Otherwise it is a guess, which takes a layout or a signature that is the same.
  bool is_renamed(const Change& gone, const Change& added, bool sure) const {
    if (gone.kind != ChangeKind::kRemoved || added.kind != ChangeKind::kAdded || gone.what != added.what) return false;
    const std::string& old = gone.name;
    const std::string& now = added.name;
    if (gone.what == "field" || gone.what == "enumerator") {
      return parent_of(old) == parent_of(now) && gone.before->layout == added.after->layout &&
             gone.before->bit == added.after->bit &&
             renamed(present(gone.before->declaration), last_of(old), last_of(now)) == added.after->declaration &&
             (sure ? are_similar(last_of(old), last_of(now)) && !has_another_word(last_of(old), last_of(now))
                   : gone.what == "field" || end_alike(old, now));
    }
    if (const auto* record = c::find<c::Record>(before_, old)) return hold_the_same(*record, now, sure);
    if (const auto* function = c::find<c::Function>(before_, old)) {
      const auto* other = c::find<c::Function>(after_, now);
      return other != nullptr && have_one_signature(*function, *other) && (!sure || are_similar(old, now));
    }
    const bool is_alike = gone.before->layout == added.after->layout &&
                          renamed(present(gone.before->declaration), old, now) == added.after->declaration &&
                          places_of(before_, old) == places_of(after_, now);
    const bool is_enum = gone.what == "enum";
    if (sure && is_enum && is_alike) return true;  // enumerators of these names are nowhere else
    if (!is_alike && !(is_enum && have_other_beginnings(old, now))) return false;
    const bool says_the_same = gone.what != "macro" || !has_another_word(old, now);
    return sure ? (are_similar(old, now) && says_the_same) || takes_its_place(old, now)
                : is_enum || gone.what == "callback";
  }

  // Enumerators of one enum, as its name says, that differ in what it has its enumerators begin with.
  bool has_another_beginning(const Change& gone, const Change& added) const {
    return !parent_of(gone.name).empty() && gone.kind == ChangeKind::kRemoved && added.kind == ChangeKind::kAdded &&
           gone.what == "enumerator" && added.what == "enumerator" && parent_of(gone.name) == parent_of(added.name) &&
           gone.before == added.after && end_alike(gone.name, added.name) &&
           ends_before_.is_behind_beginning_of_enum(gone.name) && ends_after_.is_behind_beginning_of_enum(added.name);
  }

  // The enumerators of an enum that has another name, as far as they have others, too.
  std::vector<Change> renamed_enumerators(const Change& change) const {
    std::vector<Change> found;
    if (change.kind != ChangeKind::kRenamed || change.what != "enum" || change.is_guess) return found;
    const auto& old = c::find<c::Enum>(before_, change.before->declaration)->enumerators;
    const auto& now = c::find<c::Enum>(after_, change.name)->enumerators;
    for (std::size_t i = 0; i < now.size(); ++i) {
      if (old[i].name == now[i].name) continue;
      const std::string path = change.name + "." + now[i].name;
      found.push_back({ChangeKind::kRenamed, Breaks::kApi, "enumerator", path,
                       Side{change.before->declaration + "." + old[i].name}, Side{path}, now[i].location});
    }
    return found;
  }

  // Whether a declaration has changed in nothing but names of opaque types, or of enums, that are others now: programs
  // are compiled without them.
  bool is_explained(const Change& change) const {
    if (change.kind != ChangeKind::kChanged || change.before->declaration == change.after->declaration) return false;
    std::string text = change.before->declaration;
    for (const Change& known : known_) {
      if (known.kind == ChangeKind::kRenamed && !known.is_guess &&
          (known.what.starts_with("opaque ") || known.what == "enum"))
        text = renamed(std::move(text), known.before->declaration, known.name);
    }
    return text == change.after->declaration;
  }

  bool has_moved(const Change& gone, const Change& added) const {
    return gone.kind == ChangeKind::kRemoved && added.kind == ChangeKind::kAdded && gone.what == "field" &&
           added.what == "field" && last_of(gone.name) == last_of(added.name) &&
           present(gone.before->declaration) == added.after->declaration;
  }

 private:
  // With the names that types have now.
  std::string present(std::string text) const {
    for (const auto& [old, now] : types_) text = renamed(std::move(text), old, now);
    return text;
  }

  // Where the fields of structs without a name lie: the declaration does not tell that.
  static std::string places_of(const c::Header& header, const std::string& name) {
    if (const auto* alias = c::find<c::Alias>(header, name)) return places(alias->type);
    if (const auto* variable = c::find<c::Variable>(header, name)) return places(variable->type);
    std::string told;
    if (const auto* callback = c::find<c::Callback>(header, name)) {
      told = places(callback->returns);
      for (const c::Param& param : callback->params) told += "," + places(param.type);
    }
    return told;
  }

  // Whether some declaration has changed only in this: where it had `old`, it has `now`.
  bool takes_its_place(const std::string& old, const std::string& now) const {
    return std::any_of(known_.begin(), known_.end(), [&](const Change& change) {
      if (change.kind != ChangeKind::kChanged) return false;
      const std::string before = present(change.before->declaration);
      const std::string after = renamed(before, old, now);
      return after != before && after == change.after->declaration;
    });
  }

  bool end_alike(const std::string& old, const std::string& now) const {
    return ends_before_.of(old) == ends_after_.of(now);
  }

  // Whether all enumerators have their values still, and begin with other words.
  bool have_other_beginnings(const std::string& old_name, const std::string& name) const {
    const auto* old = c::find<c::Enum>(before_, old_name);
    const auto* now = c::find<c::Enum>(after_, name);
    if (old == nullptr || now == nullptr || spelling(old->underlying) != spelling(now->underlying)) return false;
    if (old->enumerators.size() < 2) return false;
    const auto old_ends = ends_of(enumerator_names(*old));
    const auto ends = ends_of(enumerator_names(*now));
    return std::equal(old->enumerators.begin(), old->enumerators.end(), now->enumerators.begin(),
                      now->enumerators.end(), [&](const c::Enumerator& one, const c::Enumerator& other) {
                        return one.value == other.value && old_ends.at(one.name) == ends.at(other.name);
                      });
  }

  bool hold_the_same(const c::Record& old, const std::string& name, bool sure) const {
    const auto* now = c::find<c::Record>(after_, name);
    if (now == nullptr || now->is_union != old.is_union || now->size != old.size || now->fields.empty()) return false;
    if (places(old) == places(*now) && renamed(present(declaration(old)), old.name, now->name) == declaration(*now))
      return true;
    if (old.fields.size() != now->fields.size() || old.fields.size() < 2) return false;
    if (sure && !are_similar(old.name, now->name)) return false;
    return std::equal(
        old.fields.begin(), old.fields.end(), now->fields.begin(), [](const auto& one, const auto& other) {
          return one.offset == other.offset && one.bit_width == other.bit_width && one.inline_record.empty() &&
                 other.inline_record.empty() && spelling(one.type) == spelling(other.type);
        });
  }

  bool have_one_signature(const c::Function& old, const c::Function& now) const {
    const auto types_are_equal = [&](const c::Param& one, const c::Param& other) {
      return present(spelling(one.type)) == spelling(other.type) && places(one.type) == places(other.type);
    };
    return present(spelling(old.returns)) == spelling(now.returns) && places(old.returns) == places(now.returns) &&
           old.is_variadic == now.is_variadic &&
           std::equal(old.params.begin(), old.params.end(), now.params.begin(), now.params.end(), types_are_equal);
  }

  const c::Header& before_;
  const c::Header& after_;
  const std::vector<Change>& known_;
  Ends ends_before_;
  Ends ends_after_;
  std::vector<std::pair<std::string, std::string>> types_;  // that have another name now: the old one, the new one
};

// The pairs of which each side goes with nothing else, by their places.
template <class Fits>
std::vector<std::pair<std::size_t, std::size_t>> pairs_of(const std::vector<Change>& changes, Fits fits) {
  std::vector<std::pair<std::size_t, std::size_t>> found;
  for (std::size_t gone = 0; gone < changes.size(); ++gone) {
    if (changes[gone].kind != ChangeKind::kRemoved) continue;
    for (std::size_t added = 0; added < changes.size(); ++added) {
      if (fits(changes[gone], changes[added])) found.emplace_back(gone, added);
    }
  }
  const auto is_alone = [&](const auto& pair) {
    return std::count_if(found.begin(), found.end(), [&](const auto& other) {
             return other.first == pair.first || other.second == pair.second;
           }) == 1;
  };
  std::vector<std::pair<std::size_t, std::size_t>> pairs;
  std::copy_if(found.begin(), found.end(), std::back_inserter(pairs), is_alone);
  return pairs;
}

// Each pair becomes one change, at the place of what was added.
template <class Join>
void join(std::vector<Change>& changes, const std::vector<std::pair<std::size_t, std::size_t>>& pairs, Join joined) {
  std::vector<bool> is_told(changes.size(), false);
  for (const auto& [gone, added] : pairs) {
    changes[added] = joined(changes[gone], changes[added]);
    is_told[gone] = true;
  }
  std::vector<Change> left;
  for (std::size_t i = 0; i < changes.size(); ++i) {
    if (!is_told[i]) left.push_back(std::move(changes[i]));
  }
  changes = std::move(left);
}

Change as_renamed(const Change& gone, const Change& added) {
  const bool is_exported = gone.what == "function" || gone.what == "variable";  // by its name
  const Breaks worst = is_exported ? Breaks::kAbi : Breaks::kApi;
  return {ChangeKind::kRenamed, worst, added.what, added.name, Side{gone.name}, Side{added.name}, added.at};
}

// If this was no rename, the removal is what breaks callers; so the change keeps that rating. Both sides are reported
// in full, so that the reader can judge.
Change as_guessed(const Change& gone, const Change& added) {
  return {ChangeKind::kRenamed, gone.breaks, added.what, added.name, gone.before, added.after, added.at, true};
}

Change as_moved(const Change& gone, const Change& added) {
  return {ChangeKind::kMoved,
          Breaks::kAbi,
          "field",
          added.name,
          Side{gone.name, gone.before->layout},
          Side{added.name, added.after->layout},
          added.at};
}

}  // namespace

std::vector<Change> with_renames(std::vector<Change> changes, const c::Header& before, const c::Header& after) {
  const auto join_renamed = [&](bool sure) {
    const Matcher matcher(before, after, changes);
    const auto is_renamed = [&](const Change& gone, const Change& added) {
      return matcher.is_renamed(gone, added, sure);
    };
    join(changes, pairs_of(changes, is_renamed), sure ? &as_renamed : &as_guessed);
  };
  // Two names of one value are told apart by their ends, before they may seem similar.
  const Matcher at_first(before, after, changes);
  join(changes,
       pairs_of(changes,
                [&](const Change& gone, const Change& added) { return at_first.has_another_beginning(gone, added); }),
       &as_renamed);
  // Types first: others have them in their declarations.
  for (std::size_t left = changes.size() + 1; left != changes.size();) {
    left = changes.size();
    join_renamed(true);
  }
  const Matcher matcher(before, after, changes);
  join(changes,
       pairs_of(changes, [&](const Change& gone, const Change& added) { return matcher.has_moved(gone, added); }),
       &as_moved);
  join_renamed(false);
  const Matcher at_last(before, after, changes);
  std::vector<Change> of_enumerators;
  for (const Change& change : changes) {
    auto found = at_last.renamed_enumerators(change);
    of_enumerators.insert(of_enumerators.end(), found.begin(), found.end());
  }
  for (Change& change : changes) {
    if (change.breaks == Breaks::kAbi && at_last.is_explained(change)) change.breaks = Breaks::kApi;
  }
  changes.insert(changes.end(), of_enumerators.begin(), of_enumerators.end());
  return changes;
}

}  // namespace bindgen
