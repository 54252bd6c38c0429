// constants.hpp: macros as constants, and the facts that a client can ask for by name: constants, enumerators, enums,
// structs, callbacks and handles.
#include "emit/parts.hpp"
#include "read/declaration.hpp"

#include <utility>

namespace bindgen {
namespace {

Json to_json(const decltype(c::Macro::value)& value) {
  return std::visit([](const auto& any) { return Json(any); }, value);
}

std::uint64_t pick(const Layout& layout, bool on_64_bit) { return on_64_bit ? layout.on_64_bit : layout.on_32_bit; }

Json fields_json(const c::Record& record, bool on_64_bit) {
  Json fields = Json::array();
  for (const c::Field& field : record.fields) {
    const bool is_inline = !field.inline_record.empty();
    Json entry = Json::object();
    if (!field.name.empty()) entry["name"] = field.name;
    entry["type"] = !is_inline ? spelling(field.type) : field.inline_record.front().is_union ? "union" : "struct";
    entry["offset"] = pick(field.offset, on_64_bit);
    entry["size"] = pick(field.type.size, on_64_bit);
    if (is_inline) entry["fields"] = fields_json(field.inline_record.front(), on_64_bit);
    fields.push_back(std::move(entry));
  }
  return fields;
}

Json record_json(const c::Record& record, bool on_64_bit) {
  return {{"name", record.name},
          {"kind", record.is_union ? "union" : "struct"},
          {"size", pick(record.size, on_64_bit)},
          {"align", pick(record.align, on_64_bit)},
          {"fields", fields_json(record, on_64_bit)}};
}

class ConstantsEmitter {
 public:
  explicit ConstantsEmitter(const Api& api)
      : api_(api),
        writer_(
            "constants", "Constants, and the facts that can be asked for by name; each answer is JSON text.",
            {support_include(api, "layout"), support_include(api, "method"), "<cstdint>", "<span>", "<string_view>"}) {}

  BlockFile file() {
    for (const c::Symbol& symbol : api_.header.symbols) std::visit([this](const auto& any) { emit(any); }, symbol);
    code_.comment("All of them, in the order of the header.");
    emit_table();
    writer_.finish("");
    return writer_.file();
  }

 private:
  void emit_table() {
    if (facts_.empty()) return code_.line("inline constexpr std::span<const Fact> kFacts;");
    code_.line("inline constexpr Fact kFacts[] = {");
    code_.indent();
    code_.indent();
    for (const Fact& fact : facts_) code_.line(qualifier(fact.symbol) + "kFact_" + fact.name + ",");
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
        [&](double value) { return begin + "double " + macro.name + " = " + number_text(value) + ";"; },
        [&](const std::string& value) {
          return begin + "std::string_view " + macro.name + " = " + literal(value) + ";";
        }));
    add(macro.name, macro.name, {{"name", macro.name}, {"value", to_json(macro.value)}});
    writer_.finish(macro.name, {macro.name}, {"using %::" + macro.name + ";"});
  }

  void emit(const c::Enum& entity) {
    Json enumerators = Json::array();
    for (const c::Enumerator& enumerator : entity.enumerators) {
      enumerators.push_back({{"name", enumerator.name}, {"value", enumerator.value}});
    }
    if (!entity.name.empty()) {
      code_.comment("The enumerators of " + entity.name + ".");
      code_.string_constant(
          "kEnum_" + entity.name,
          raw_json_lines({{"name", entity.name}, {"kind", "enum"}, {"enumerators", std::move(enumerators)}}));
      add_named(entity.name, "kEnum_" + entity.name);
    }
    for (const c::Enumerator& enumerator : entity.enumerators) {
      Json fact{{"name", enumerator.name}, {"value", enumerator.value}};
      if (!entity.name.empty()) fact["enum"] = entity.name;
      add(entity.name, enumerator.name, fact);
    }
    writer_.finish(entity.name);
  }

  void emit(const c::Alias& alias) {
    add(alias.name, alias.name, {{"name", alias.name}, {"kind", "handle"}, {"declaration", declaration(alias)}});
    writer_.finish(alias.name);
  }

  void emit(const c::Opaque&) {}  // nothing can be told of it

  void emit(const c::Callback& callback) {
    add(callback.name, callback.name,
        {{"name", callback.name}, {"kind", "callback"}, {"declaration", declaration(callback)}});
    writer_.finish(callback.name);
  }

  void emit(const c::Record& record) {
    const auto on_64_bit = raw_json_lines(record_json(record, true));
    const auto on_32_bit = raw_json_lines(record_json(record, false));
    code_.comment("The layout of " + record.name + ".");
    if (on_64_bit == on_32_bit) {
      code_.string_constant("kLayout_" + record.name, on_64_bit);
    } else {
      code_.string_constant("kLayout64_" + record.name, on_64_bit);
      code_.string_constant("kLayout32_" + record.name, on_32_bit);
      code_.statement({"inline constexpr std::string_view kLayout_" + record.name + " = by_pointer_size",
                       {"kLayout64_" + record.name, "kLayout32_" + record.name}});
    }
    add_named(record.name, "kLayout_" + record.name);
    writer_.finish(record.name);
  }

  // A fact, as part of the block of `symbol`. Its answer is given as JSON or as the name of a constant.
  void add(const std::string& symbol, const std::string& name, const Json& answer) {
    emit_fact(symbol, name, raw_literal(answer.dump()));
  }
  void add_named(const std::string& name, const std::string& answer) { emit_fact(name, name, answer); }
  void emit_fact(const std::string& symbol, const std::string& name, const std::string& answer) {
    code_.statement({"inline constexpr Fact kFact_" + name, {literal(name), answer}, '{'});
    facts_.push_back({symbol, name});
  }

  struct Fact {
    std::string symbol;  // the declaration that it belongs to
    std::string name;
  };

  const Api& api_;
  BlockWriter writer_;
  CodeText& code_ = writer_.code;
  std::vector<Fact> facts_;
};

}  // namespace

BlockFile emit_constants(const Api& api) { return ConstantsEmitter(api).file(); }

}  // namespace bindgen
