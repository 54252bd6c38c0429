// What is said in other words, and what only one header says is deprecated (diff.hpp).
#include "compare/diff.hpp"

#include "meaning/model.hpp"

#include <map>
#include <set>
#include <sstream>
#include <string>
#include <utility>

namespace bindgen {
namespace {

struct Documented {
  std::string path;  // "function.param", "function.return", "Struct.field", "enumerator"
  std::string key;   // the same, but for "function.0", "function.1" of parameters
  std::string text;
  Location at;
  std::string deprecation = {};  // those parts of `text` which say that it is deprecated
  std::string rest = {};         // `text` without them
};

std::string in_one_line(const std::string& text) {
  std::istringstream in(text);
  std::string line;
  for (std::string word; in >> word;) line += (line.empty() ? "" : " ") + word;
  return line;
}

class Collection {
 public:
  explicit Collection(const c::Header& header) {
    for (const c::Symbol& symbol : header.symbols) std::visit([this](const auto& any) { add(any); }, symbol);
    for (const c::Variable& variable : header.variables) add(variable);
  }
  const std::vector<Documented>& all() const { return all_; }

 private:
  template <class Kind>
  void add(const Kind& symbol) {
    if (!symbol.name.empty()) add(symbol.name, symbol.documentation, symbol.location);
    if constexpr (std::is_same_v<Kind, c::Enum>) {
      for (const c::Enumerator& one : symbol.enumerators) add(one.name, one.documentation, one.location);
    }
    if constexpr (std::is_same_v<Kind, c::Record>) add_fields(symbol, symbol.name);
    if constexpr (std::is_same_v<Kind, c::Alias> || std::is_same_v<Kind, c::Variable>)
      add_content(symbol.type, symbol.name);
    if constexpr (std::is_same_v<Kind, c::Function> || std::is_same_v<Kind, c::Callback>) {
      for (std::size_t i = 0; i < symbol.params.size(); ++i) {
        const std::string& name = symbol.params[i].name;
        add(symbol.name + "." + name, symbol.documentation.of_param(name), symbol.location);
        all_.back().key = symbol.name + "." + std::to_string(i);
      }
      add(symbol.name + ".return", symbol.documentation.returns, symbol.location);
    }
  }
  void add_fields(const c::Record& record, const std::string& path) {
    for (const c::Field& field : record.fields) {
      const std::string own_path = path_of(path, field);
      add(own_path, field.documentation, field.location);
      for (const c::Record& inner : field.inline_record) add_fields(inner, field.name.empty() ? path : own_path);
      add_content(field.type, own_path);
    }
  }
  // Of a struct without a name that an array consists of, or that is pointed at.
  void add_content(const c::Type& type, const std::string& path) {
    for (const c::Type& target : type.target) add_content(target, path);
    for (const c::Record& record : type.content) add_fields(record, path);
  }
  void add(const std::string& path, const std::string& text, const Location& at) {
    all_.push_back({path, path, in_one_line(text), at, "", in_one_line(text)});
  }
  void add(const std::string& path, const Documentation& documentation, const Location& at) {
    add(path, documentation.text, at);
    if (!documentation.is_deprecated) return;
    std::string rest = documentation.text;
    std::string deprecation;
    for (auto part = documentation.deprecations.rbegin(); part != documentation.deprecations.rend(); ++part) {
      rest.erase(rest.rfind(*part), part->size());
      deprecation.insert(0, *part + " ");
    }
    all_.back().rest = in_one_line(rest);
    all_.back().deprecation = in_one_line(deprecation);
  }

  std::vector<Documented> all_;
};

// What things were called before, by what they are called now.
class Names {
 public:
  explicit Names(const std::vector<Change>& changes) {
    for (const Change& change : changes) {
      const bool has_another = change.kind == ChangeKind::kRenamed || change.kind == ChangeKind::kMoved;
      if (!has_another || change.is_guess || !change.before || change.before->declaration.empty()) continue;
      const bool is_enumerator = change.what == "enumerator";
      const auto own = [&](const std::string& path) { return is_enumerator ? path.substr(path.rfind('.') + 1) : path; };
      before_.emplace(own(change.name), own(change.before->declaration));
    }
  }

  // Of a path, or of what it is in.
  std::string before(const std::string& path) const {
    for (auto end = path.size(); end != std::string::npos && end != 0; end = path.rfind('.', end - 1)) {
      const auto found = before_.find(path.substr(0, end));
      if (found != before_.end()) return found->second + path.substr(end);
    }
    return path;
  }

 private:
  std::map<std::string, std::string> before_;
};

// What is documented in both headers, whatever it is called in each: before, after.
using Pairs = std::vector<std::pair<Documented, Documented>>;

Pairs pairs_of(const c::Header& before, const c::Header& after, const std::vector<Change>& changes) {
  const Collection old(before);
  const Collection now(after);
  const Names names(changes);
  std::map<std::string, const Documented*> known;
  std::map<std::string, const Documented*> by_place;
  for (const Documented& one : old.all()) {
    known.emplace(one.path, &one);
    by_place.emplace(one.key, &one);
  }
  std::set<std::string> stays;
  for (const Documented& one : now.all()) stays.insert(names.before(one.path));
  // By its name; else by the place of a parameter that has lost its own.
  const auto before_of = [&](const Documented& one) -> const Documented* {
    for (const std::string& path : {one.path, names.before(one.path)}) {
      if (const auto found = known.find(path); found != known.end()) return found->second;
    }
    const auto found = by_place.find(names.before(one.key));
    return found != by_place.end() && stays.count(found->second->path) == 0 ? found->second : nullptr;
  };
  Pairs pairs;
  for (const Documented& one : now.all()) {
    if (const Documented* other = before_of(one)) pairs.emplace_back(*other, one);
  }
  return pairs;
}

}  // namespace

std::vector<Change> documentation_changes(const c::Header& before, const c::Header& after,
                                          const std::vector<Change>& changes) {
  std::vector<Change> reworded;
  for (const auto& [old, now] : pairs_of(before, after, changes)) {
    // What is deprecated now, or no longer, deprecation_changes() tells.
    const bool is_told = old.deprecation.empty() != now.deprecation.empty();
    const std::string& before_it = is_told ? old.rest : old.text;
    const std::string& after_it = is_told ? now.rest : now.text;
    if (before_it == after_it) continue;
    const auto side = [](const std::string& text) { return text.empty() ? std::optional<Side>() : Side{text}; };
    reworded.push_back(
        {ChangeKind::kReworded, Breaks::kNone, "documentation", now.path, side(before_it), side(after_it), now.at});
  }
  return reworded;
}

std::vector<Change> deprecation_changes(const c::Header& before, const c::Header& after,
                                        const std::vector<Change>& changes) {
  std::vector<Change> found;
  for (const auto& [old, now] : pairs_of(before, after, changes)) {
    if (old.deprecation.empty() == now.deprecation.empty()) continue;
    Change change{ChangeKind::kAdded, Breaks::kNone, "deprecation", now.path, {}, {}, now.at};
    if (!now.deprecation.empty()) {
      change.after = Side{now.deprecation};
    } else {
      change.kind = ChangeKind::kRemoved;
      change.before = Side{old.deprecation};
    }
    found.push_back(std::move(change));
  }
  return found;
}

}  // namespace bindgen
