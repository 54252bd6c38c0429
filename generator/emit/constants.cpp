// constants.hpp: macros as constants, and the facts that a client can ask for by name: constants, enums with their
// enumerators, structs, callbacks and handles.
#include "emit/parts.hpp"
#include "read/declaration.hpp"

#include <utility>

namespace bindgen {
namespace {

class ConstantsEmitter {
 public:
  explicit ConstantsEmitter(const Api& api)
      : api_(api),
        header_{home_of(api),
                "constants",
                "Constants, and the facts that can be asked for by name.",
                {support_include(api, "facts"), support_include(api, "layout"), home_of(api).include("abi"),
                 home_of(api).include("enums"), "<cstdint>", "<span>", "<string_view>"}} {}

  HeaderFile file() {
    for (const c::Symbol& symbol : api_.header.symbols) std::visit([this](const auto& any) { emit(any); }, symbol);
    code_.comment("What can be asked for, in the order of the header.");
    emit_table();
    header_.end_section();
    return std::move(header_);
  }

 private:
  void emit_table() {
    if (facts_.empty()) return code_.line("inline constexpr std::span<const Fact> kFacts;");
    code_.line("inline constexpr Fact kFacts[] = {");
    code_.indent();
    code_.indent();
    for (const Expression& fact : facts_) code_.statement(fact, ",");
    code_.outdent();
    code_.outdent();
    code_.line("};");
  }

  void emit(const c::Function&) {}  // functions are called, not asked for

  void emit(const c::Macro& macro) {
    code_.comment(macro.documentation.text);
    const std::string begin = "inline constexpr ";
    code_.line(match(
        macro.value,  //
        [&](std::int64_t value) { return begin + "std::int64_t " + macro.name + " = " + integer_text(value) + ";"; },
        [&](std::uint64_t value) {
          return begin + "std::uint64_t " + macro.name + " = " + std::to_string(value) + "U;";
        },
        [&](double value) { return begin + "double " + macro.name + " = " + double_literal(value) + ";"; },
        [&](const std::string& value) {
          return begin + "std::string_view " + macro.name + " = " + literal(value) + ";";
        }));
    add(macro.name, {"ConstantFact", {macro.name}, '{'});
    header_.end_section();
  }

  void emit(const c::Enum& entity) {
    if (!entity.name.empty()) return add(entity.name, "enum_fact<" + entity.name + ">()");
    for (const c::Enumerator& enumerator : entity.enumerators) {
      add(enumerator.name, {"ConstantFact", {"std::int64_t{" + integer_text(enumerator.value) + "}"}, '{'});
    }
  }

  void emit(const c::Alias& alias) { add_declaration(alias.name, "handle", declaration(alias)); }
  void emit(const c::Callback& callback) { add_declaration(callback.name, "callback", declaration(callback)); }
  void emit(const c::Opaque&) {}  // nothing can be told of it

  void emit(const c::Record& record) {
    const std::string fields = "kFields_" + record.name;
    if (!record.fields.empty()) {
      code_.comment("Where the fields of " + record.name + " lie.");
      code_.line("inline constexpr FieldFact " + fields + "[] = {");
      emit_fields(record, 0);
      code_.line("};");
      header_.end_section();
    }
    add(record.name, {"RecordFact",
                      {literal(record.is_union ? "union" : "struct"), "sizeof(" + record.name + ")",
                       "alignof(" + record.name + ")", record.fields.empty() ? "{}" : fields},
                      '{'});
  }

  void emit_fields(const c::Record& record, unsigned depth) {
    for (const c::Field& field : record.fields) {
      const bool is_inline = !field.inline_record.empty();
      if (!is_inline && field.name.empty()) continue;  // bits that only fill up
      const std::string type = !is_inline                             ? spelling(field.type)
                               : field.inline_record.front().is_union ? "union"
                                                                      : "struct";
      std::vector<Expression> row = {literal(field.name), literal(type), layout_text(field.offset),
                                     layout_text(field.type.size)};
      if (depth > 0) row.emplace_back(std::to_string(depth));
      code_.indent();
      code_.indent();
      code_.statement({"", std::move(row), '{'}, ",");
      code_.outdent();
      code_.outdent();
      if (is_inline) emit_fields(field.inline_record.front(), depth + 1);
    }
  }

  void add_declaration(const std::string& name, const std::string& kind, const std::string& text) {
    add(name, {"DeclarationFact", {literal(kind), literal(text)}, '{'});
  }
  void add(const std::string& name, Expression what) { facts_.push_back({"", {literal(name), std::move(what)}, '{'}); }

  const Api& api_;
  HeaderFile header_;
  CodeText& code_ = header_.code;
  std::vector<Expression> facts_;  // the rows of the table
};

}  // namespace

HeaderFile emit_constants(const Api& api) { return ConstantsEmitter(api).file(); }

}  // namespace bindgen
