// constants.hpp: macros as constants, and the facts that a client can ask for by name: constants, enumerators, enums,
// structs, callbacks and handles.
#include "declaration.hpp"
#include "emit_parts.hpp"

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
  explicit ConstantsEmitter(const Api& api) : api_(api) {}

  File file() {
    begin_header(
        code_, api_, "Constants, and the facts that can be asked for by name; each answer is JSON text.",
        {support_include(api_, "layout"), support_include(api_, "method"), "<cstdint>", "<span>", "<string_view>"});
    for (const c::Symbol& symbol : api_.header.symbols) std::visit([this](const auto& any) { emit(any); }, symbol);
    code_.line();
    code_.comment("All of them, in the order of the header.");
    emit_table();
    end_header(code_, api_);
    return {header_path(api_, "constants"), code_.text()};
  }

 private:
  void emit_table() {
    if (facts_.empty()) return code_.line("inline constexpr std::span<const Fact> kFacts;");
    code_.line("inline constexpr Fact kFacts[] = {");
    code_.indent();
    code_.indent();
    for (const auto& [name, value] : facts_) code_.statement({"", {literal(name), value}, '{'}, ",");
    code_.outdent();
    code_.outdent();
    code_.line("};");
  }

  void emit(const c::Function&) {}  // functions are called, not asked for

  void emit(const c::Macro& macro) {
    code_.line();
    code_.comment(macro.documentation.text);
    const std::string begin = "inline constexpr ";
    code_.line(match(
        macro.value,  //
        [&](std::int64_t value) { return begin + "std::int64_t " + macro.name + " = " + std::to_string(value) + ";"; },
        [&](double value) { return begin + "double " + macro.name + " = " + number_text(value) + ";"; },
        [&](const std::string& value) {
          return begin + "std::string_view " + macro.name + " = " + literal(value) + ";";
        }));
    add(macro.name, {{"name", macro.name}, {"value", to_json(macro.value)}});
  }

  void emit(const c::Enum& entity) {
    Json enumerators = Json::array();
    for (const c::Enumerator& enumerator : entity.enumerators) {
      enumerators.push_back({{"name", enumerator.name}, {"value", enumerator.value}});
    }
    if (!entity.name.empty()) {
      code_.line();
      code_.comment("The enumerators of " + entity.name + ".");
      code_.string_constant(
          "kEnum_" + entity.name,
          raw_json_lines({{"name", entity.name}, {"kind", "enum"}, {"enumerators", std::move(enumerators)}}));
      facts_.emplace_back(entity.name, "kEnum_" + entity.name);
    }
    for (const c::Enumerator& enumerator : entity.enumerators) {
      Json fact{{"name", enumerator.name}, {"value", enumerator.value}};
      if (!entity.name.empty()) fact["enum"] = entity.name;
      add(enumerator.name, fact);
    }
  }

  void emit(const c::Alias& alias) {
    add(alias.name, {{"name", alias.name}, {"kind", "handle"}, {"declaration", declaration(alias)}});
  }

  void emit(const c::Opaque&) {}  // nothing can be told of it

  void emit(const c::Callback& callback) {
    add(callback.name, {{"name", callback.name}, {"kind", "callback"}, {"declaration", declaration(callback)}});
  }

  void emit(const c::Record& record) {
    const auto on_64_bit = raw_json_lines(record_json(record, true));
    const auto on_32_bit = raw_json_lines(record_json(record, false));
    code_.line();
    code_.comment("The layout of " + record.name + ".");
    if (on_64_bit == on_32_bit) {
      code_.string_constant("kLayout_" + record.name, on_64_bit);
    } else {
      code_.string_constant("kLayout64_" + record.name, on_64_bit);
      code_.string_constant("kLayout32_" + record.name, on_32_bit);
      code_.statement({"inline constexpr std::string_view kLayout_" + record.name + " = by_pointer_size",
                       {"kLayout64_" + record.name, "kLayout32_" + record.name}});
    }
    facts_.emplace_back(record.name, "kLayout_" + record.name);
  }

  void add(const std::string& name, const Json& fact) {
    const std::string text = fact.dump();
    const std::string mark = text.find(")\"") == std::string::npos ? "" : "json";
    facts_.emplace_back(name, "R\"" + mark + "(" + text + ")" + mark + "\"");
  }

  const Api& api_;
  CodeText code_;
  std::vector<std::pair<std::string, std::string>> facts_;  // name, C++ expression of the answer
};

}  // namespace

File emit_constants(const Api& api) { return ConstantsEmitter(api).file(); }

}  // namespace bindgen
