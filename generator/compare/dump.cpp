#include "compare/dump.hpp"

#include "read/clean_text.hpp"
#include "read/declaration.hpp"

#include <filesystem>
#include <utility>

namespace bindgen {
namespace {

const char* kind_name(c::TypeKind kind) {
  switch (kind) {
    case c::TypeKind::kVoid: return "void";
    case c::TypeKind::kBool: return "bool";
    case c::TypeKind::kCharacter: return "character";
    case c::TypeKind::kSigned: return "signed";
    case c::TypeKind::kUnsigned: return "unsigned";
    case c::TypeKind::kFloat: return "float";
    case c::TypeKind::kDouble: return "double";
    case c::TypeKind::kEnum: return "enum";
    case c::TypeKind::kRecord: return "record";
    case c::TypeKind::kFunction: return "function";
    case c::TypeKind::kPointer: return "pointer";
    case c::TypeKind::kArray: return "array";
    case c::TypeKind::kOther: return "other";
  }
  return "";
}

Json type_json(const c::Type& type) {
  Json json{{"spelling", spelling(type)}, {"kind", kind_name(type.kind)}, {"size", layout_json(type.size)}};
  if (type.kind == c::TypeKind::kArray) json["count"] = type.count;
  return json;
}

void add_documentation(Json& json, const std::string& documentation) {
  if (!documentation.empty()) json["documentation"] = documentation;
}

Json record_json(const c::Record& record);

Json field_json(const c::Field& field) {
  Json json{{"name", field.name}};
  if (field.inline_record.empty()) {
    json["type"] = type_json(field.type);
    json["offset"] = layout_json(field.offset);
  } else {
    json["offset"] = layout_json(field.offset);
    json["declared_in_place"] = record_json(field.inline_record.front());
  }
  if (field.bit_width != 0) json["bits"] = {{"width", field.bit_width}, {"first", layout_json(field.first_bit)}};
  json["line"] = field.location.line;
  add_documentation(json, field.documentation.text);
  return json;
}

Json record_json(const c::Record& record) {
  Json fields = Json::array();
  for (const c::Field& field : record.fields) fields.push_back(field_json(field));
  return {{"kind", record.is_union ? "union" : "struct"},
          {"size", layout_json(record.size)},
          {"align", layout_json(record.align)},
          {"fields", std::move(fields)}};
}

template <class Callable>
Json signature_json(const Callable& callable) {
  Json params = Json::array();
  for (const c::Param& param : callable.params) {
    Json json{{"name", param.name}, {"type", type_json(param.type)}};
    add_documentation(json, callable.documentation.of_param(param.name));
    params.push_back(std::move(json));
  }
  Json returns{{"type", type_json(callable.returns)}};
  add_documentation(returns, callable.documentation.returns);
  return {{"declaration", declaration(callable)},
          {"params", std::move(params)},
          {"variadic", callable.is_variadic},
          {"returns", std::move(returns)}};
}

Json symbol_json(const c::Macro& macro) {
  Json value = std::visit([](const auto& any) { return Json(any); }, macro.value);
  if (!macro.no_constant.empty()) value = nullptr;
  return {{"macro", macro.name}, {"body", macro.body}, {"value", std::move(value)}};
}

Json symbol_json(const c::Alias& alias) {
  return {{"typedef", alias.name}, {"declaration", declaration(alias)}, {"type", type_json(alias.type)}};
}

Json symbol_json(const c::Enum& entity) {
  Json enumerators = Json::array();
  for (const c::Enumerator& enumerator : entity.enumerators) {
    Json json{{"name", enumerator.name}, {"value", enumerator.value}, {"line", enumerator.location.line}};
    add_documentation(json, enumerator.documentation.text);
    enumerators.push_back(std::move(json));
  }
  return {{"enum", entity.name}, {"type", type_json(entity.underlying)}, {"enumerators", std::move(enumerators)}};
}

Json symbol_json(const c::Record& record) {
  Json json{{"record", record.name}};
  json.update(record_json(record));
  return json;
}

Json symbol_json(const c::Opaque& opaque) {
  return {{"opaque", opaque.name}, {"kind", opaque.is_union ? "union" : "struct"}};
}

Json symbol_json(const c::Callback& callback) {
  Json json{{"callback", callback.name}};
  json.update(signature_json(callback));
  return json;
}

Json symbol_json(const c::Function& function) {
  Json json{{"function", function.name}};
  json.update(signature_json(function));
  if (function.symbol != function.name) json["symbol"] = function.symbol;
  return json;
}

Json symbol_json(const c::Variable& variable) {
  Json json{{"variable", variable.name}, {"declaration", declaration(variable)}, {"type", type_json(variable.type)}};
  if (variable.symbol != variable.name) json["symbol"] = variable.symbol;
  return json;
}

template <class Kind>
Json placed_json(const Kind& symbol) {
  Json json = symbol_json(symbol);
  json["line"] = symbol.location.line;
  add_documentation(json, symbol.documentation.text);
  return json;
}

class Tree {
 public:
  std::string of(const c::Header& header) {
    text_ = header.path + ": sizes and offsets (@) in bytes, 64-bit/32-bit\n";
    for (const c::Symbol& symbol : header.symbols) std::visit([this](const auto& any) { add(any); }, symbol);
    for (const c::Variable& variable : header.variables) add(variable);
    return std::move(text_);
  }

 private:
  void add(const c::Macro& macro) { line(0, "macro " + macro.name + " = " + macro.body); }
  void add(const c::Alias& alias) { line(0, declaration(alias) + ", size " + text(alias.type.size)); }
  void add(const c::Opaque& opaque) {
    line(0, (opaque.is_union ? "union " : "struct ") + opaque.name + ", content unknown");
  }
  void add(const c::Callback& callback) { line(0, declaration(callback)); }
  void add(const c::Variable& variable) {
    line(0, "variable " + declaration(variable) + ", size " + text(variable.type.size) + other_symbol(variable));
  }
  void add(const c::Function& function) { line(0, declaration(function) + other_symbol(function)); }

  // The name in the library, where it is another one.
  template <class Exported>
  static std::string other_symbol(const Exported& exported) {
    return exported.symbol == exported.name ? "" : ", symbol " + exported.symbol;
  }

  void add(const c::Enum& entity) {
    line(0, "enum " + (entity.name.empty() ? "(unnamed)" : entity.name) + ", size " + text(entity.underlying.size));
    for (const c::Enumerator& enumerator : entity.enumerators) {
      line(1, enumerator.name + " = " + std::to_string(enumerator.value));
    }
  }

  void add(const c::Record& record) {
    line(0, heading(record, record.name));
    add_fields(record, 1);
  }

  static std::string heading(const c::Record& record, const std::string& name) {
    return std::string(record.is_union ? "union" : "struct") + (name.empty() ? "" : " " + name) + ", size " +
           text(record.size) + ", align " + text(record.align);
  }

  void add_fields(const c::Record& record, unsigned depth) {
    for (const c::Field& field : record.fields) {
      const std::string at = "@" + text(field.offset) + " ";
      if (field.inline_record.empty()) {
        line(depth, at + declaration(field) + ", size " + text(field.type.size));
      } else {
        line(depth, at + heading(field.inline_record.front(), field.name));
        add_fields(field.inline_record.front(), depth + 1);
      }
    }
  }

  void line(unsigned depth, const std::string& words) { text_ += std::string(2 * depth, ' ') + words + "\n"; }

  std::string text_;
};

}  // namespace

Json layout_json(const Layout& layout) { return {{"64", layout.on_64_bit}, {"32", layout.on_32_bit}}; }

std::string dump_json(const c::Header& header) {
  Json symbols = Json::array();
  for (const c::Symbol& symbol : header.symbols) {
    symbols.push_back(std::visit([](const auto& any) { return placed_json(any); }, symbol));
  }
  for (const c::Variable& variable : header.variables) symbols.push_back(placed_json(variable));
  const Json dump{{"header", clean(std::filesystem::path(header.path).filename().string())},
                  {"sha256", header.sha256},
                  {"symbols", std::move(symbols)}};
  return with_escapes(dump.dump(1)) + "\n";
}

std::string dump_tree(const c::Header& header) { return Tree().of(header); }

}  // namespace bindgen
