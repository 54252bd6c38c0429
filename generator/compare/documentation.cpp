#include "compare/documentation.hpp"

#include "meaning/model.hpp"

#include <sstream>
#include <string>
#include <utility>

namespace bindgen {
namespace {

struct Documented {
  std::string path;  // "function.param", "function.return", "Struct.field", "Enum.enumerator"
  std::string text;
  Location at;
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
  }
  const std::vector<Documented>& all() const { return all_; }

 private:
  template <class Kind>
  void add(const Kind& symbol) {
    if (!symbol.name.empty()) add(symbol.name, symbol.documentation.text, symbol.location);
    if constexpr (std::is_same_v<Kind, c::Enum>) {
      for (const c::Enumerator& one : symbol.enumerators) add(one.name, one.documentation.text, one.location);
    }
    if constexpr (std::is_same_v<Kind, c::Record>) add_fields(symbol, symbol.name);
    if constexpr (std::is_same_v<Kind, c::Function> || std::is_same_v<Kind, c::Callback>) {
      for (const c::Param& param : symbol.params) {
        add(symbol.name + "." + param.name, symbol.documentation.of_param(param.name), symbol.location);
      }
      add(symbol.name + ".return", symbol.documentation.returns, symbol.location);
    }
  }
  void add_fields(const c::Record& record, const std::string& path) {
    for (const c::Field& field : record.fields) {
      const std::string own_path = path_of(path, field);
      add(own_path, field.documentation.text, field.location);
      for (const c::Record& inner : field.inline_record) add_fields(inner, field.name.empty() ? path : own_path);
    }
  }
  void add(const std::string& path, const std::string& text, const Location& at) {
    all_.push_back({path, in_one_line(text), at});
  }

  std::vector<Documented> all_;
};

}  // namespace

std::vector<Change> documentation_changes(const c::Header& before, const c::Header& after) {
  const Collection old(before);
  const Collection now(after);
  std::map<std::string, const Documented*> known;
  for (const Documented& one : old.all()) known.emplace(one.path, &one);
  std::vector<Change> changes;
  for (const Documented& one : now.all()) {
    const auto other = known.find(one.path);
    if (other == known.end() || other->second->text == one.text) continue;
    const auto side = [](const std::string& text) { return text.empty() ? std::optional<Side>() : Side{text}; };
    changes.push_back({ChangeKind::kReworded, Breaks::kNone, "documentation", one.path, side(other->second->text),
                       side(one.text), one.at});
  }
  return changes;
}

}  // namespace bindgen
