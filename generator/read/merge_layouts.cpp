// One set of facts out of what the targets say (declarations.hpp).
#include "read/declarations.hpp"

#include "diagnostics.hpp"
#include "read/declaration.hpp"

#include <algorithm>
#include <type_traits>
#include <utility>

namespace bindgen {
namespace {

// Walks two descriptions of the same header in step and copies the 32-bit side of `other` into `merged`.
class Merger {
 public:
  Merger(const c::Header& header, bool must_be_equal) : header_(header), must_be_equal_(must_be_equal) {}

  void declarations(Declarations& merged, const Declarations& other) {
    at_ = {header_.path, 1, 1};
    each(merged.symbols, other.symbols, [this](c::Symbol& one, const c::Symbol& two) {
      at_ = std::visit([](const auto& any) { return any.location; }, one);
      if (one.index() != two.index() || c::name_of(one) != c::name_of(two)) refuse("declares different symbols");
      std::visit([&](auto& symbol) { this->symbol(symbol, std::get<std::decay_t<decltype(symbol)>>(two)); }, one);
    });
    variables(merged, other);
  }

 private:
  // Nothing is generated of variables, so one that differs is in nobody's way.
  void variables(Declarations& merged, const Declarations& other) {
    std::vector<c::Variable> kept;
    for (c::Variable& one : merged.variables) {
      const c::Variable* two = find(other.variables, one.name);
      c::Variable both = one;
      const bool agrees = two != nullptr && one.symbol == two->symbol && agree(both.type, two->type);
      (agrees ? kept : merged.variables_of_machines).push_back(agrees ? std::move(both) : std::move(one));
    }
    merged.variables = std::move(kept);
    for (const c::Variable& two : other.variables) {
      const bool is_known =
          find(merged.variables, two.name) != nullptr || find(merged.variables_of_machines, two.name) != nullptr;
      if (!is_known) merged.variables_of_machines.push_back(two);
    }
  }

  static const c::Variable* find(const std::vector<c::Variable>& variables, const std::string& name) {
    const auto found = std::find_if(variables.begin(), variables.end(),
                                    [&](const c::Variable& variable) { return variable.name == name; });
    return found != variables.end() ? &*found : nullptr;
  }

  bool agree(c::Type& merged, const c::Type& other) {
    try {
      type(merged, other);
      return true;
    } catch (const Refusal&) {
      return false;
    }
  }

  void symbol(c::Macro&, const c::Macro&) {}
  void symbol(c::Alias& merged, const c::Alias& other) {
    at_ = merged.location;
    type(merged.type, other.type);
  }
  void symbol(c::Enum& merged, const c::Enum& other) {
    at_ = merged.location;
    type(merged.underlying, other.underlying);
    // What needs 64 bits is long where that has them, and long long elsewhere; long long has them everywhere.
    if (merged.underlying.size.on_64_bit == merged.underlying.size.on_32_bit) {
      merged.underlying.name = other.underlying.name;
    }
    each(merged.enumerators, other.enumerators, [this](c::Enumerator& one, const c::Enumerator& two) {
      if (one.name != two.name || one.value != two.value) refuse("has different enumerators");
    });
  }
  void symbol(c::Opaque&, const c::Opaque&) {}
  void symbol(c::Callback& merged, const c::Callback& other) { signature(merged, other); }
  void symbol(c::Function& merged, const c::Function& other) {
    signature(merged, other);
    if (merged.symbol != other.symbol) refuse("has different names in the library");
  }
  void symbol(c::Record& merged, const c::Record& other) {
    at_ = merged.location;
    if (merged.is_union != other.is_union) refuse("has different fields");
    layout(merged.size, other.size);
    layout(merged.align, other.align);
    each(merged.fields, other.fields, [this](c::Field& one, const c::Field& two) {
      at_ = one.location;
      if (one.name != two.name || one.bit_width != two.bit_width) refuse("has different fields");
      type(one.type, two.type);
      layout(one.offset, two.offset);
      layout(one.first_bit, two.first_bit);
      each(one.inline_record, two.inline_record, [this](c::Record& a, const c::Record& b) { symbol(a, b); });
    });
  }

  template <class Callable>
  void signature(Callable& merged, const Callable& other) {
    at_ = merged.location;
    if (merged.is_variadic != other.is_variadic) refuse("has different parameters");
    merged.has_own_call = merged.has_own_call || other.has_own_call;
    type(merged.returns, other.returns);
    std::size_t number = 0;
    each(merged.params, other.params, [&](c::Param& one, const c::Param& two) {
      ++number;
      if (one.name != two.name)
        refuse("calls parameter " + std::to_string(number) + " " + one.name + " and " + two.name);
      if (one.extent != two.extent) refuse("has arrays of different lengths");
      type(one.type, two.type);
    });
  }

  // `is_pointed_at`: then how large a struct is does not matter, unless the header declares it, which is seen there.
  void type(c::Type& merged, const c::Type& other, bool is_pointed_at = false) {
    // The names may differ where the header asks for a type by its size (__SIZE_TYPE__); what it is may not.
    const bool is_named_anew =
        !merged.name.empty() && !other.name.empty() && merged.name != other.name && must_be_equal_;
    const bool is_otherwise_fixed = merged.is_const != other.is_const || merged.is_volatile != other.is_volatile;
    if (merged.kind != other.kind || is_named_anew || is_otherwise_fixed) {
      refuse("has different types: " + spelling(merged) + " and " + spelling(other));
    }
    each(merged.content, other.content, [&, at = at_](c::Record& one, const c::Record& two) {
      symbol(one, two);
      at_ = at;
    });
    if (merged.count != other.count) refuse("has arrays of different lengths");
    merged.has_own_call = merged.has_own_call || other.has_own_call;
    const bool is_told_elsewhere = is_pointed_at && must_be_equal_ && is_of_structs(merged);
    if (!is_told_elsewhere) layout(merged.size, other.size);
    const bool points = merged.kind == c::TypeKind::kPointer || is_pointed_at;
    each(merged.target, other.target, [&](c::Type& one, const c::Type& two) {
      if (one.is_const != two.is_const) refuse("has different types: " + spelling(merged) + " and " + spelling(other));
      type(one, two, points);
    });
    each(merged.params, other.params, [this](c::Type& one, const c::Type& two) { type(one, two); });
  }

  static bool is_of_structs(const c::Type& type) {
    return type.kind == c::TypeKind::kRecord ||
           (type.kind == c::TypeKind::kArray && is_of_structs(type.target.front()));
  }

  void layout(Layout& merged, const Layout& other) {
    if (!must_be_equal_) {
      merged.on_32_bit = other.on_32_bit;
    } else if (merged.on_64_bit != other.on_64_bit) {
      refuse("has different layouts");
    }
  }

  template <class Items, class Function>
  void each(Items& merged, const Items& other, Function function) {
    if (merged.size() != other.size()) refuse("has different numbers of parts");
    for (std::size_t i = 0; i < merged.size(); ++i) function(merged[i], other[i]);
  }

  [[noreturn]] void refuse(const std::string& what) const {
    const std::string targets = must_be_equal_ ? "x86_64 and aarch64" : "64-bit and 32-bit targets";
    throw Refusal(std::vector{complain(header_, at_, "this " + what + " on " + targets)});
  }

  const c::Header& header_;
  bool must_be_equal_;
  Location at_;
};

}  // namespace

Declarations merge_layouts(const c::Header& header, Declarations on_64_bit, const Declarations& on_other_64_bit,
                           const Declarations& on_32_bit) {
  Merger(header, true).declarations(on_64_bit, on_other_64_bit);
  Merger(header, false).declarations(on_64_bit, on_32_bit);
  return on_64_bit;
}

}  // namespace bindgen
