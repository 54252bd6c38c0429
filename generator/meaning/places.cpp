// The places of a header that an entry of an overlay can be about (understand.hpp).
#include "meaning/understand.hpp"

#include "meaning/model.hpp"
#include "read/declaration.hpp"
#include "read/representation.hpp"

#include <algorithm>
#include <set>
#include <string>
#include <utility>

namespace bindgen {
namespace {

bool may_be_length(const c::Type& type) {
  return is_integer(type) || (type.kind == c::TypeKind::kPointer && is_integer(type.target.front()));
}

// The names of what may be lengths among `parts`: those behind `place`, then those before it. All of them if `place` is
// the number of parts.
template <class Parts>
std::vector<std::string> lengths_beside(const Parts& parts, std::size_t place) {
  std::vector<std::string> names;
  const auto take = [&](std::size_t first, std::size_t end) {
    for (std::size_t i = first; i < end; ++i) {
      if (!may_be_length(parts[i].type)) continue;
      names.push_back(parts[i].name.empty() ? "(the parameter without a name)" : parts[i].name);
    }
  };
  if (place < parts.size()) take(place + 1, parts.size());
  take(0, place);
  return names;
}

// The names of the other pointers of this type.
template <class Parts>
std::vector<std::string> pointers_beside(const Parts& parts, std::size_t place) {
  std::vector<std::string> names;
  const c::Type& type = parts[place].type;
  if (type.kind != c::TypeKind::kPointer) return names;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (i != place && !parts[i].name.empty() && spelling(parts[i].type) == spelling(type))
      names.push_back(parts[i].name);
  }
  return names;
}

class Survey {
 public:
  explicit Survey(const c::Header& header) : header_(header) {}

  Places result() {
    for (const c::Function* function : c::all<c::Function>(header_)) add_beside_numbers(function->params);
    for (const c::Record* record : c::all<c::Record>(header_)) add_beside_numbers(record->fields);
    for (const c::Symbol& symbol : header_.symbols) std::visit([this](const auto& any) { visit(any); }, symbol);
    return std::move(places_);
  }

 private:
  void visit(const c::Macro&) {}
  void visit(const c::Enum&) {}
  void visit(const c::Opaque&) {}
  void visit(const c::Alias& alias) { add(PlaceKind::kAlias, alias.name, declaration(alias), alias.location); }
  void visit(const c::Callback& callback) {
    add(PlaceKind::kCallback, callback.name, declaration(callback), callback.location);
  }
  void visit(const c::Record& record) {
    if (!record.is_union)
      visit_fields(record, record.name, "",
                   beside_numbers_.count(record.name) != 0);  // what is in a union is nothing for the wire
  }
  void visit(const c::Function& function) {
    add(PlaceKind::kFunction, function.name, declaration(function), function.location);
    if (function.is_variadic && function.params.empty())
      complain(function.location, function.name + ": which parameters it takes is not said; if none, write " +
                                      function.name + "(void) in the header");
    else if (function.is_variadic)
      complain(function.location, function.name + " takes variable arguments, which have no wire form");
    for (std::size_t i = 0; i < function.params.size(); ++i) {
      const c::Param& param = function.params[i];
      if (param.name.empty()) {
        complain(param.location, function.name + ": a parameter without a name; give it one in the header");
        continue;
      }
      const std::string path = function.name + "." + param.name;
      Declared declared{path, declaration(param), param.type, lengths_beside(function.params, i)};
      declared.is_param = true;
      declared.has_numbers_around = has_numbers_in_parts(function.params, i);
      declared.is_array = param.is_array;
      declared.extent = param.extent;
      declared.pointers_beside = pointers_beside(function.params, i);
      add_part(std::move(declared), param.location);
      places_.params.insert(path);
    }
    const std::string path = function.name + ".return";
    add(PlaceKind::kReturn, path, spelling(function.returns), function.location);
    Declared returned{path, spelling(function.returns), function.returns,
                      lengths_beside(function.params, function.params.size())};
    std::erase_if(returned.integers_beside, [&](const std::string& name) { return !is_filled_in(function, name); });
    returned.is_returned = true;
    returned.has_numbers_around = leaves_numbers(function);
    returned.is_union = is_union(function.returns);
    returned.is_opaque = is_opaque(function.returns);
    places_.returns.push_back(std::move(returned));
  }

  // `inside`: what is declared in place around the fields, if anything is; `has_numbers_around`: beside that.
  void visit_fields(const c::Record& record, const std::string& path, const std::string& inside,
                    bool has_numbers_around) {
    for (std::size_t i = 0; i < record.fields.size(); ++i) {
      const c::Field& field = record.fields[i];
      const bool is_inline = !field.inline_record.empty();
      if (field.name.empty() && !is_inline) continue;  // bits that only fill up
      const std::string own_path = path_of(path, field);
      const bool has_numbers = has_numbers_around || has_numbers_in_parts(record.fields, i);
      std::vector<std::string> lengths = lengths_beside(record.fields, i);
      const bool has_any_numbers = has_numbers || !lengths.empty();
      // The members of an anonymous struct or union are members of the struct around it, for C and for the wire; and
      // there is nothing else to say about an anonymous struct.
      if (is_inline && field.name.empty() && !field.inline_record.front().is_union) {
        visit_fields(field.inline_record.front(), path, inside, has_any_numbers);
        continue;
      }
      Declared declared{own_path, declaration(field), field.type, std::move(lengths)};
      declared.has_numbers_around = has_numbers;
      declared.inside = inside;
      declared.bit_width = field.bit_width;
      declared.pointers_beside = pointers_beside(record.fields, i);
      declared.is_union = is_inline ? field.inline_record.front().is_union : is_union(field.type);
      declared.is_anonymous = field.name.empty();
      add_part(std::move(declared), field.location);
      if (is_inline)
        visit_fields(field.inline_record.front(), field.name.empty() ? path : own_path, own_path, has_any_numbers);
    }
  }

  // Whether a part but the one at `place` is a float, or holds any number; lengths_beside() tells the other numbers.
  template <class Parts>
  bool has_numbers_in_parts(const Parts& parts, std::size_t place) const {
    for (std::size_t i = 0; i < parts.size(); ++i) {
      if (i == place) continue;
      if (may_be_length(parts[i].type)) continue;
      std::set<std::string> seen;
      if (leads_to_number(parts[i], seen)) return true;
    }
    return false;
  }
  // Whether the function may leave a number in a struct that it is given to write into.
  bool leaves_numbers(const c::Function& function) const {
    return std::any_of(function.params.begin(), function.params.end(), [&](const c::Param& param) {
      std::set<std::string> seen;
      return param.type.kind == c::TypeKind::kPointer && !param.type.target.front().is_const &&
             !may_be_length(param.type) && leads_to_number(param.type, seen);
    });
  }
  // Whatever pointers, arrays and structs are between; `seen` are the structs that have been looked into.
  bool leads_to_number(const c::Type& type, std::set<std::string>& seen) const {
    const bool is_character = type.kind == c::TypeKind::kCharacter;
    if (type.kind == c::TypeKind::kPointer || type.kind == c::TypeKind::kArray)
      return type.target.front().kind != c::TypeKind::kCharacter && leads_to_number(type.target.front(), seen);
    if (type.kind != c::TypeKind::kRecord) return is_number(type) || is_character || type.kind == c::TypeKind::kEnum;
    const c::Record* record = c::find<c::Record>(header_, type.name);
    return record != nullptr && seen.insert(type.name).second && holds_number(*record, seen);
  }
  bool leads_to_number(const c::Param& param, std::set<std::string>& seen) const {
    return leads_to_number(param.type, seen);
  }
  bool leads_to_number(const c::Field& field, std::set<std::string>& seen) const {
    return field.inline_record.empty() ? leads_to_number(field.type, seen)
                                       : holds_number(field.inline_record.front(), seen);
  }
  bool holds_number(const c::Record& record, std::set<std::string>& seen) const {
    return std::any_of(record.fields.begin(), record.fields.end(),
                       [&](const c::Field& field) { return leads_to_number(field, seen); });
  }

  // Structs that a part leads to beside which there are numbers.
  template <class Parts>
  void add_beside_numbers(const Parts& parts) {
    for (std::size_t i = 0; i < parts.size(); ++i) {
      if (!lengths_beside(parts, i).empty() || has_numbers_in_parts(parts, i)) add_structs(parts[i].type);
    }
  }
  void add_structs(const c::Type& type) {
    if (type.kind == c::TypeKind::kPointer || type.kind == c::TypeKind::kArray) return add_structs(type.target.front());
    const auto* record = type.kind == c::TypeKind::kRecord ? c::find<c::Record>(header_, type.name) : nullptr;
    if (record != nullptr && beside_numbers_.insert(record->name).second) add_structs(*record);
  }
  void add_structs(const c::Record& record) {
    for (const c::Field& field : record.fields) {
      for (const c::Record& inner : field.inline_record) add_structs(inner);
      if (field.inline_record.empty()) add_structs(field.type);
    }
  }

  bool is_union(const c::Type& type) const {
    const c::Record* record = type.kind == c::TypeKind::kRecord ? c::find<c::Record>(header_, type.name) : nullptr;
    return record != nullptr && record->is_union;
  }

  // Whether a returned pointer's length may be left there.
  static bool is_filled_in(const c::Function& function, const std::string& param) {
    for (const c::Param& one : function.params) {
      if (one.name == param) return one.type.kind == c::TypeKind::kPointer && !one.type.target.front().is_const;
    }
    return false;
  }

  bool is_opaque(const c::Type& type) const {
    if (type.kind != c::TypeKind::kPointer || type.target.front().kind != c::TypeKind::kRecord) return false;
    return c::find<c::Record>(header_, type.target.front().name) == nullptr;
  }

  void add_part(Declared declared, const Location& at) {
    declared.is_union = declared.is_union || is_union(declared.type);
    declared.is_opaque = is_opaque(declared.type);
    declared.points_at_union = declared.type.kind == c::TypeKind::kPointer && is_union(declared.type.target.front());
    declared.ends_openly =
        declared.type.kind == c::TypeKind::kPointer && ends_openly(header_, declared.type.target.front(), 1);
    add(PlaceKind::kPart, declared.path, declared.declaration, at);
    places_.parts.push_back(std::move(declared));
  }

  void add(PlaceKind kind, const std::string& path, const std::string& declaration, const Location& at) {
    if (!places_.by_path.emplace(path, Place{kind, declaration, at}).second) {
      complain(at, "a second " + path + ", which the overlay cannot tell from the first");
    }
  }

  void complain(const Location& at, std::string message) {
    places_.complaints.push_back(bindgen::complain(header_, at, std::move(message)));
  }

  const c::Header& header_;
  std::set<std::string> beside_numbers_;  // structs
  Places places_;
};

}  // namespace

Places places_in(const c::Header& header) { return Survey(header).result(); }

}  // namespace bindgen
