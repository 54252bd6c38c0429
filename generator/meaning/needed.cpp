// What some functions of a large header need of it (understand.hpp).
#include "meaning/understand.hpp"

#include <utility>
#include <variant>

namespace bindgen {
namespace {

// Collects the names of types, through everything that a declaration is made of.
class Reached {
 public:
  explicit Reached(const c::Header& header) : header_(header) {}

  void add(const c::Function& function) { add_signature(function.returns, function.params); }
  void add(const std::string& type) {
    if (type.empty() || !names_.insert(type).second) return;
    for (const c::Symbol& symbol : header_.symbols) {
      if (c::name_of(symbol) == type) std::visit([this](const auto& any) { add_inside(any); }, symbol);
    }
  }
  bool has(const std::string& name) const { return names_.count(name) != 0; }

 private:
  void add(const c::Type& type) {
    for (const c::Type& target : type.target) add(target);
    for (const c::Type& param : type.params) add(param);
    add(type.name);
  }

  void add_inside(const c::Record& record) {
    for (const c::Field& field : record.fields) {
      add(field.type);
      for (const c::Record& inner : field.inline_record) add_inside(inner);
    }
  }
  void add_inside(const c::Callback& callback) { add_signature(callback.returns, callback.params); }
  void add_inside(const c::Alias& alias) { add(alias.type); }
  void add_inside(const c::Macro&) {}
  void add_inside(const c::Enum&) {}
  void add_inside(const c::Opaque&) {}
  void add_inside(const c::Function&) {}

  void add_signature(const c::Type& returns, const std::vector<c::Param>& params) {
    add(returns);
    for (const c::Param& param : params) add(param.type);
  }

  const c::Header& header_;
  std::set<std::string> names_;
};

}  // namespace

c::Header needed_by(c::Header header, const std::set<std::string>& functions, const std::set<std::string>& types) {
  Reached reached(header);
  for (const std::string& type : types) reached.add(type);
  for (const c::Function* function : c::all<c::Function>(header)) {
    if (functions.count(function->name) != 0) reached.add(*function);
  }
  const auto is_needless = [&](const c::Symbol& symbol) {
    if (std::holds_alternative<c::Macro>(symbol) || std::holds_alternative<c::Enum>(symbol)) return false;
    if (std::holds_alternative<c::Function>(symbol)) return functions.count(c::name_of(symbol)) == 0;
    return !reached.has(c::name_of(symbol));
  };
  std::vector<c::Symbol> kept;
  for (const c::Symbol& symbol : header.symbols) {
    if (!is_needless(symbol)) kept.push_back(symbol);
  }
  header.symbols = std::move(kept);
  return header;
}

}  // namespace bindgen
