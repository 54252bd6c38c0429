#include "compare/diff.hpp"

#include "meaning/model.hpp"
#include "read/clean_text.hpp"
#include "read/declaration.hpp"
#include "read/representation.hpp"

#include <algorithm>
#include <cmath>
#include <deque>
#include <map>
#include <set>
#include <utility>

namespace bindgen {
namespace {

std::string value_text(const c::Macro& macro) {
  if (!macro.no_constant.empty()) return macro.body;
  return match(
      macro.value, [](std::int64_t value) { return std::to_string(value); },
      [](std::uint64_t value) { return std::to_string(value); }, [&](double) { return macro.body; },
      [](const std::string& value) { return "\"" + with_escapes(value) + "\""; });
}

// A named field, or an anonymous struct or union, with its path; after it, what is declared in place.
struct PlacedField {
  std::string path;
  const c::Field* field;
};

void place_fields(const c::Record& record, const std::string& parent, std::vector<PlacedField>& placed) {
  for (const c::Field& field : record.fields) {
    std::string path = path_of(parent, field);
    const auto is_taken = [&](const PlacedField& other) { return other.path == path; };
    // A struct may have several anonymous unions: "S.union", "S.union_2".
    for (int n = 2; std::any_of(placed.begin(), placed.end(), is_taken); ++n) {
      path = path_of(parent, field) + "_" + std::to_string(n);
    }
    placed.push_back({path, &field});
    if (!field.inline_record.empty())
      place_fields(field.inline_record.front(), field.name.empty() ? parent : path, placed);
  }
}

// Declared in place: what it holds is told field by field.
std::string field_declaration(const c::Field& field) {
  if (field.inline_record.empty()) return declaration(field);
  const std::string keyword = field.inline_record.front().is_union ? "union" : "struct";
  return (field.type.is_const ? "const " : "") + keyword + (field.name.empty() ? "" : " " + field.name);
}

class Differ {
 public:
  Differ(const c::Header& before, const c::Header& after) : before_(before), after_(after) {}

  std::vector<Change> result() {
    for (const c::Symbol& symbol : after_.symbols) std::visit([this](const auto& any) { meet(any); }, symbol);
    for (const c::Variable& variable : after_.variables) meet(variable);
    for (const c::Symbol& symbol : before_.symbols) std::visit([this](const auto& any) { miss(any); }, symbol);
    for (const c::Variable& variable : before_.variables) miss(variable);
    auto of_enumerators = enumerator_changes(before_, after_);
    changes_.insert(changes_.end(), of_enumerators.begin(), of_enumerators.end());
    return std::move(changes_);
  }

 private:
  // ---- A symbol of the later header: new, or to be compared.

  template <class Kind>
  void meet(const Kind& symbol) {
    if constexpr (std::is_same_v<Kind, c::Enum>) {
      if (symbol.name.empty()) return;  // only its enumerators have names
    }
    if (const Kind* old = c::find<Kind>(before_, symbol.name)) {
      compare(*old, symbol);
    } else if (!tell_opaque_on_one_side(symbol)) {
      changes_.push_back(
          {ChangeKind::kAdded, Breaks::kNone, what(symbol), symbol.name, {}, side(symbol), symbol.location});
    }
  }

  // A symbol of the earlier header. Macros, typedefs and structs are not asked for by a compiled program; functions and
  // variables are, and what breaks by a struct that is gone is told of the functions and the fields that had it.
  template <class Kind>
  void miss(const Kind& symbol) {
    if constexpr (std::is_same_v<Kind, c::Enum>) {
      if (symbol.name.empty()) return;
    }
    if (c::find<Kind>(after_, symbol.name) != nullptr || is_opaque_on_one_side(symbol)) return;
    constexpr bool is_exported = std::is_same_v<Kind, c::Function> || std::is_same_v<Kind, c::Variable>;
    const Breaks worst = is_exported ? Breaks::kAbi : Breaks::kApi;
    changes_.push_back({ChangeKind::kRemoved, worst, what(symbol), symbol.name, side(symbol), {}, symbol.location});
  }

  // ---- A struct whose content the header tells on one side only. What was opaque is still what programs that point at
  // it have; they never had more. Sources that use the content of what is opaque now have to change.

  template <class Kind>
  bool is_opaque_on_one_side(const Kind& symbol) const {
    const auto has_both = [&](const auto& one, const auto& other) { return one != nullptr && other != nullptr; };
    if constexpr (std::is_same_v<Kind, c::Record> || std::is_same_v<Kind, c::Opaque>) {
      return has_both(c::find<c::Opaque>(before_, symbol.name), c::find<c::Record>(after_, symbol.name)) ||
             has_both(c::find<c::Record>(before_, symbol.name), c::find<c::Opaque>(after_, symbol.name));
    }
    return false;
  }

  template <class Kind>
  bool tell_opaque_on_one_side(const Kind& symbol) {
    if (!is_opaque_on_one_side(symbol)) return false;
    if constexpr (std::is_same_v<Kind, c::Record>) {
      changes_.push_back({ChangeKind::kChanged, Breaks::kNone, what(symbol), symbol.name, Side{"opaque"},
                          Side{"is defined now", symbol.size}, symbol.location});
    } else if constexpr (std::is_same_v<Kind, c::Opaque>) {
      const auto* old = c::find<c::Record>(before_, symbol.name);
      changes_.push_back({ChangeKind::kChanged, Breaks::kApi, what(*old), symbol.name, Side{"defined", old->size},
                          Side{"is opaque now"}, symbol.location});
    }
    return true;
  }

  static std::string what(const c::Macro&) { return "macro"; }
  static std::string what(const c::Alias&) { return "typedef"; }
  static std::string what(const c::Enum&) { return "enum"; }
  static std::string what(const c::Record& record) { return record.is_union ? "union" : "struct"; }
  static std::string what(const c::Opaque& opaque) { return opaque.is_union ? "opaque union" : "opaque struct"; }
  static std::string what(const c::Callback&) { return "callback"; }
  static std::string what(const c::Function&) { return "function"; }
  static std::string what(const c::Variable&) { return "variable"; }

  static Side side(const c::Macro& macro) { return {value_text(macro)}; }
  static Side side(const c::Alias& alias) { return {declaration(alias)}; }
  static Side side(const c::Enum& entity) { return {declaration(entity), entity.underlying.size}; }
  static Side side(const c::Record& record) { return {declaration(record), record.size}; }
  static Side side(const c::Opaque& opaque) { return {(opaque.is_union ? "union " : "struct ") + opaque.name}; }
  static Side side(const c::Callback& callback) { return {declaration(callback)}; }
  static Side side(const c::Function& function) { return {declaration(function)}; }
  static Side side(const c::Variable& variable) { return {declaration(variable)}; }

  // ---- The same symbol on both sides.

  // A compiled program holds the value that was, and says it to a library that means another one.
  void compare(const c::Macro& old, const c::Macro& now) {
    const auto* before = std::get_if<double>(&old.value);
    const auto* after = std::get_if<double>(&now.value);
    const bool other_sign = before != nullptr && after != nullptr && std::signbit(*before) != std::signbit(*after);
    if (old.value != now.value || other_sign)  // 0.0 and -0.0 are equal
      change(Breaks::kAbi, what(now), now.name, value_text(old), value_text(now), now.location);
  }

  void compare(const c::Alias& old, const c::Alias& now) {
    const bool is_same = same_representation(before_, old.type, after_, now.type);
    if (declaration(old) != declaration(now)) {
      change(is_same ? Breaks::kApi : Breaks::kAbi, what(now), now.name, declaration(old), declaration(now),
             now.location);
    } else if (!is_same && !is_told_of_its_type(old.type, now.type)) {
      change_type(what(now), now.name, "", old.type, now.type, now.location);
    }
  }

  void compare(const c::Enum& old, const c::Enum& now) {
    if (old.underlying.size != now.underlying.size) {
      resized(what(now), now.name, old.underlying.size, now.underlying.size, now.location);
    } else if (spelling(old.underlying) != spelling(now.underlying)) {
      change(Breaks::kApi, what(now), now.name, spelling(old.underlying), spelling(now.underlying), now.location);
    }
  }

  void compare(const c::Record& old, const c::Record& now) {
    if (old.is_union != now.is_union) change(Breaks::kAbi, what(now), now.name, what(old), what(now), now.location);
    if (old.size != now.size) resized(what(now), now.name, old.size, now.size, now.location);
    if (old.align != now.align) {
      change(Breaks::kAbi, what(now), now.name, "alignment " + text(old.align), "alignment " + text(now.align),
             now.location);
    }
    std::vector<PlacedField> old_fields;
    std::vector<PlacedField> new_fields;
    place_fields(old, old.name, old_fields);
    place_fields(now, now.name, new_fields);
    std::deque<c::Record> placed;
    place_tagged(before_, new_fields, old_fields, placed);
    place_tagged(after_, old_fields, new_fields, placed);
    for (const PlacedField& field : new_fields) {
      if (const c::Field* other = find(old_fields, field.path)) {
        compare_fields(field.path, *other, *field.field);
      } else {
        changes_.push_back(
            {ChangeKind::kAdded, Breaks::kNone, "field", field.path, {}, side(*field.field), field.field->location});
      }
    }
    for (const PlacedField& field : old_fields) {
      if (find(new_fields, field.path) != nullptr) continue;
      changes_.push_back(
          {ChangeKind::kRemoved, Breaks::kAbi, "field", field.path, side(*field.field), {}, field.field->location});
    }
  }

  // A struct that is declared in place in the other header has a name in this one: its fields are compared all the
  // same.
  static void place_tagged(const c::Header& header, const std::vector<PlacedField>& others,
                           std::vector<PlacedField>& fields, std::deque<c::Record>& placed) {
    for (const PlacedField& other : others) {
      const c::Field* field = other.field->inline_record.empty() ? nullptr : find(fields, other.path);
      if (field == nullptr || !field->inline_record.empty()) continue;
      const auto* record = record_in(header, *field);
      if (record == nullptr || record->is_union != other.field->inline_record.front().is_union) continue;
      placed.push_back(*record);
      move_by(placed.back(), field->offset);
      place_fields(placed.back(), other.path, fields);
    }
  }

  void compare_fields(const std::string& path, const c::Field& old, const c::Field& now) {
    const std::string declared_before = field_declaration(old);
    const std::string declared_after = field_declaration(now);
    const bool is_in_place = !old.inline_record.empty() || !now.inline_record.empty();
    const bool is_same =
        is_in_place ? are_told_by_field(old, now) : same_representation(before_, old.type, after_, now.type);
    if (declared_before != declared_after || old.bit_width != now.bit_width) {
      const bool breaks_abi = !is_same || old.bit_width != now.bit_width;
      change(breaks_abi ? Breaks::kAbi : Breaks::kApi, "field", path, declared_before, declared_after, now.location);
    } else if (old.type.size != now.type.size && !is_told_of_its_type(now.type)) {
      resized("field", path, old.type.size, now.type.size, now.location);
    } else if (!is_same && !is_told_of_its_type(old.type, now.type)) {
      change_type("field", path, "", old.type, now.type, now.location);
    }
    if (old.offset != now.offset || old.first_bit != now.first_bit) {
      changes_.push_back({ChangeKind::kMoved, Breaks::kAbi, "field", path, place(old), place(now), now.location});
    }
  }

  // Of two structs or two unions, of which at least one is declared in place, the fields are compared.
  bool are_told_by_field(const c::Field& old, const c::Field& now) const {
    const c::Record* before = record_in(before_, old);
    const c::Record* after = record_in(after_, now);
    if (before == nullptr || after == nullptr || before->is_union != after->is_union) return false;
    const bool are_both_in_place = !old.inline_record.empty() && !now.inline_record.empty();
    return are_both_in_place || before->size == after->size;
  }

  // The size of a struct or enum that the header declares is told where it is declared.
  bool is_told_of_its_type(const c::Type& type) const {
    if (type.kind == c::TypeKind::kArray) return is_told_of_its_type(type.target.front());
    return c::find<c::Record>(after_, type.name) != nullptr || c::find<c::Enum>(after_, type.name) != nullptr ||
           type.name.empty();
  }

  void compare(const c::Variable& old, const c::Variable& now) {
    const bool is_same = same_representation(before_, old.type, after_, now.type);
    if (declaration(old) != declaration(now)) {
      change(is_same ? Breaks::kApi : Breaks::kAbi, what(now), now.name, declaration(old), declaration(now),
             now.location);
    } else if (!is_same && !is_told_of_its_type(old.type, now.type)) {
      change_type(what(now), now.name, "", old.type, now.type, now.location);
    }
    compare_symbols(old, now);
  }
  // By which the library exports them.
  template <class Exported>
  void compare_symbols(const Exported& old, const Exported& now) {
    if (old.symbol != now.symbol)
      change(Breaks::kAbi, what(now), now.name, "symbol " + old.symbol, "symbol " + now.symbol, now.location);
  }
  void compare(const c::Opaque&, const c::Opaque&) {}
  void compare(const c::Callback& old, const c::Callback& now) { compare_signatures(old, now); }
  void compare(const c::Function& old, const c::Function& now) {
    compare_signatures(old, now);
    compare_symbols(old, now);
  }

  static std::string told_call(bool has_own_call) {
    return has_own_call ? "called in a way of its own (an attribute)" : "called as C calls functions";
  }

  // What a declaration in C does not show: how it is called, and how many elements an array has that C passes as a
  // pointer.
  template <class Callable>
  void compare_calls(const Callable& old, const Callable& now) {
    if (old.has_own_call != now.has_own_call) {
      change(Breaks::kAbi, what(now), now.name, told_call(old.has_own_call), told_call(now.has_own_call), now.location);
    }
    const auto told_extent = [](const c::Param& param) {
      return param.name + ": " +
             (param.extent == 0 ? "a pointer" : "an array of " + std::to_string(param.extent) + " elements");
    };
    for (std::size_t i = 0; i < std::min(old.params.size(), now.params.size()); ++i) {
      const c::Param& before = old.params[i];
      const c::Param& after = now.params[i];
      if (before.extent == after.extent || before.type.kind != after.type.kind) continue;
      // With more elements the function may use what programs do not have.
      change(after.extent > before.extent ? Breaks::kAbi : Breaks::kApi, what(now), now.name, told_extent(before),
             told_extent(after), now.location);
    }
  }

  // Whether a parameter stands where another one was: programs pass the old arguments.
  static bool change_places(const std::vector<c::Param>& old, const std::vector<c::Param>& now) {
    for (std::size_t i = 0; i < old.size(); ++i) {
      for (std::size_t j = 0; j < now.size(); ++j) {
        if (i != j && !old[i].name.empty() && old[i].name == now[j].name) return true;
      }
    }
    return false;
  }

  template <class Callable>
  void compare_signatures(const Callable& old, const Callable& now) {
    compare_calls(old, now);
    if (declaration(old) == declaration(now)) return compare_types_by_name(old, now);
    bool is_same = old.params.size() == now.params.size() && old.is_variadic == now.is_variadic &&
                   !change_places(old.params, now.params) &&
                   same_representation(before_, old.returns, after_, now.returns);
    for (std::size_t i = 0; is_same && i < old.params.size(); ++i) {
      is_same = same_representation(before_, old.params[i].type, after_, now.params[i].type);
    }
    change(is_same ? Breaks::kApi : Breaks::kAbi, what(now), now.name, declaration(old), declaration(now),
           now.location);
  }

  // The same text can mean another type, where a typedef or an included header says something else now.
  template <class Callable>
  void compare_types_by_name(const Callable& old, const Callable& now) {
    const auto compare_types = [&](const std::string& part, const c::Type& before, const c::Type& after) {
      if (same_representation(before_, before, after_, after) || is_told_of_its_type(before, after)) return;
      change_type(what(now), now.name, part + ": ", before, after, now.location);
    };
    compare_types("return", old.returns, now.returns);
    for (std::size_t i = 0; i < now.params.size(); ++i) {
      compare_types(now.params[i].name, old.params[i].type, now.params[i].type);
    }
  }

  // A type with the name by which the header calls it, and what it is.
  static std::string told_type(const c::Type& type) {
    static const std::map<c::TypeKind, const char*> kKinds = {{c::TypeKind::kEnum, "enum"},
                                                              {c::TypeKind::kRecord, "struct"},
                                                              {c::TypeKind::kSigned, "signed integer"},
                                                              {c::TypeKind::kFloat, "float"},
                                                              {c::TypeKind::kDouble, "double"},
                                                              {c::TypeKind::kUnsigned, "unsigned integer"},
                                                              {c::TypeKind::kPointer, "pointer"},
                                                              {c::TypeKind::kBool, "bool"},
                                                              {c::TypeKind::kCharacter, "character"}};
    const auto kind = kKinds.find(type.kind);
    if (type.kind == c::TypeKind::kPointer && type.target.front().kind == c::TypeKind::kFunction)
      return spelling(type) + ", " + told_call(type.target.front().has_own_call);
    return spelling(type) + (kind == kKinds.end() ? "" : std::string(", ") + kind->second) + ", size " +
           text(type.size);
  }

  // Another type where the declaration is the same.
  void change_type(std::string what, std::string name, const std::string& part, const c::Type& old, const c::Type& now,
                   const Location& at) {
    std::string before = told_type(old);
    std::string after = told_type(now);
    const c::Type* one = &old;
    const c::Type* other = &now;
    while (before == after && !one->target.empty() && !other->target.empty()) {
      one = &one->target.front();
      other = &other->target.front();
      before += ", of " + told_type(*one);
      after += ", of " + told_type(*other);
    }
    if (before == after) {
      before += ":" + places(old);
      after += ":" + places(now);
    }
    change(Breaks::kAbi, std::move(what), std::move(name), part + before, part + after, at);
  }

  // What changes in a struct or enum that both headers declare is told where it is declared; that of a pointer's target
  // as well.
  bool is_told_of_its_type(const c::Type& old, const c::Type& now) const {
    if (old.kind != now.kind) return false;
    if (now.name.empty() && !now.target.empty() && !old.target.empty() && now.kind != c::TypeKind::kFunction)
      return is_told_of_its_type(old.target.front(), now.target.front());
    return declare_both<c::Record>(old, now) || declare_both<c::Enum>(old, now) ||
           declare_both<c::Callback>(old, now) || declare_both<c::Alias>(old, now);
  }
  template <class Kind>
  bool declare_both(const c::Type& old, const c::Type& now) const {
    return !old.name.empty() && !now.name.empty() && c::find<Kind>(before_, old.name) != nullptr &&
           c::find<Kind>(after_, now.name) != nullptr;
  }

  // ---- Pieces.

  void change(Breaks worst, std::string what, std::string name, std::string old, std::string now, const Location& at) {
    changes_.push_back({ChangeKind::kChanged, worst, std::move(what), std::move(name), Side{std::move(old)},
                        Side{std::move(now)}, at});
  }
  void resized(std::string what, std::string name, const Layout& old, const Layout& now, const Location& at) {
    changes_.push_back(
        {ChangeKind::kResized, Breaks::kAbi, std::move(what), std::move(name), Side{"", old}, Side{"", now}, at});
  }
  static const c::Field* find(const std::vector<PlacedField>& fields, const std::string& path) {
    for (const PlacedField& field : fields) {
      if (field.path == path) return field.field;
    }
    return nullptr;
  }
  static Side place(const c::Field& field) {
    return {"", field.offset, field.bit_width != 0 ? std::optional(field.first_bit) : std::nullopt};
  }
  static Side side(const c::Field& field) { return {field_declaration(field), field.offset, place(field).bit}; }

  const c::Header& before_;
  const c::Header& after_;
  std::vector<Change> changes_;
};

}  // namespace

std::vector<Change> diff(const c::Header& before, const c::Header& after) {
  auto changes = with_renames(Differ(before, after).result(), before, after);
  auto of_deprecation = deprecation_changes(before, after, changes);
  changes.insert(changes.end(), of_deprecation.begin(), of_deprecation.end());
  return changes;
}

Breaks breaks(const std::vector<Change>& changes) {
  Breaks worst = Breaks::kNone;
  for (const Change& change : changes) worst = std::max(worst, change.breaks);
  return worst;
}

}  // namespace bindgen
