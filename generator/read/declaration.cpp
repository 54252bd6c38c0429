#include "read/declaration.hpp"

#include <cctype>

namespace bindgen {
namespace {

std::string item(const c::Param& param) { return declaration(param); }
std::string item(const c::Type& type) { return spelling(type); }

// "(int a, char* b, ...)". Items are parameters, or just their types.
template <class Items>
std::string param_list(const Items& items, bool is_variadic) {
  std::string list;
  for (const auto& one : items) list += (list.empty() ? "" : ", ") + item(one);
  if (is_variadic) list += list.empty() ? "..." : ", ...";
  return "(" + (list.empty() ? "void" : list) + ")";
}

std::string extent(const c::Type& array) { return "[" + (array.count == 0 ? "" : std::to_string(array.count)) + "]"; }

bool is_word(char character) { return std::isalnum(static_cast<unsigned char>(character)) != 0 || character == '_'; }

}  // namespace

bool wraps_its_name(const c::Type& type) {
  if (!type.name.empty()) return false;
  if (type.kind == c::TypeKind::kFunction) return true;
  return type.kind == c::TypeKind::kPointer &&
         (type.target.front().kind == c::TypeKind::kArray ? type.target.front().name.empty()
                                                          : wraps_its_name(type.target.front()));
}

std::string text(const Layout& layout) {
  return std::to_string(layout.on_64_bit) + "/" + std::to_string(layout.on_32_bit);
}

std::string spelling(const c::Type& type) {
  const std::string qualifiers = std::string(type.is_const ? "const " : "") + (type.is_volatile ? "volatile " : "");
  if (!type.name.empty()) return qualifiers + type.name;
  if (wraps_its_name(type) || type.kind == c::TypeKind::kArray) return declaration(type, "");
  if (type.kind == c::TypeKind::kPointer) return spelling(type.target.front()) + (type.is_const ? "* const" : "*");
  if (type.kind == c::TypeKind::kVoid) return qualifiers + "void";
  return qualifiers + (type.content.empty() ? "(unnamed)" : declaration(type.content.front()));
}

std::string declaration(const c::Type& type, const std::string& name) {
  if (type.kind == c::TypeKind::kArray && type.name.empty()) {
    return declaration(type.target.front(), name + extent(type));
  }
  if (wraps_its_name(type)) {
    if (type.kind == c::TypeKind::kFunction) {
      return declaration(type.target.front(), name + param_list(type.params, type.is_variadic));
    }
    const c::Type& target = type.target.front();
    const std::string pointer = (type.is_const ? "* const " : "*") + name;
    return declaration(target, target.kind == c::TypeKind::kPointer ? pointer : "(" + pointer + ")");
  }
  return spelling(type) + (name.empty() || name.front() == '[' ? name : " " + name);
}

std::string declaration(const c::Field& field) {
  if (!field.inline_record.empty()) {
    return declaration(field.inline_record.front()) + (field.name.empty() ? "" : " " + field.name);
  }
  const bool is_bit_field = field.bit_width != 0 || field.name.empty();
  return declaration(field.type, field.name) + (is_bit_field ? " : " + std::to_string(field.bit_width) : "");
}

std::string declaration(const c::Record& record) {
  std::string text =
      std::string(record.is_union ? "union " : "struct ") + (record.name.empty() ? "" : record.name + " ");
  text += "{ ";
  for (const c::Field& member : record.fields) text += declaration(member) + "; ";
  return text + "}";
}

std::string places(const c::Record& record) {
  std::string told;
  for (const c::Field& field : record.fields) {
    if (!told.empty()) told += ", ";
    told += (field.name.empty() ? "" : field.name + " ") + "@" + text(field.offset);
    if (field.bit_width != 0) told += " bit " + text(field.first_bit);
    for (const c::Record& inner : field.inline_record) told += " " + places(inner);
    if (field.inline_record.empty()) told += " size " + text(field.type.size) + places(field.type);
  }
  return "{ " + told + " }, size " + text(record.size) + ", align " + text(record.align);
}

std::string places(const c::Type& type) {
  std::string told;
  for (const c::Type& target : type.target) told += places(target);
  for (const c::Type& param : type.params) told += places(param);
  for (const c::Record& record : type.content) told += " " + places(record);
  return told;
}

std::string declaration(const c::Enum& entity) {
  std::string list;
  for (const c::Enumerator& enumerator : entity.enumerators) {
    list += (list.empty() ? "" : ", ") + enumerator.name + " = " + std::to_string(enumerator.value);
  }
  return "enum " + (entity.name.empty() ? "" : entity.name + " ") + "{ " + list + " }";
}

std::string declaration(const c::Param& param) { return declaration(param.type, param.name); }

std::string declaration(const c::Function& function) {
  return declaration(function.returns, function.name + param_list(function.params, function.is_variadic));
}

std::string declaration(const c::Callback& callback) {
  return "typedef " +
         declaration(callback.returns, "(*" + callback.name + ")" + param_list(callback.params, callback.is_variadic));
}

std::string declaration(const c::Variable& variable) { return declaration(variable.type, variable.name); }

std::string declaration(const c::Alias& alias) { return "typedef " + declaration(alias.type, alias.name); }

std::string normalized(const std::string& declaration) {
  std::string text;
  bool blank = false;
  for (const char character : declaration) {
    if (std::isspace(static_cast<unsigned char>(character)) != 0) {
      blank = true;
      continue;
    }
    if (blank && !text.empty() && is_word(text.back()) && is_word(character)) text += ' ';
    text += character;
    blank = false;
  }
  while (!text.empty() && text.back() == ';') text.pop_back();
  return text;
}

}  // namespace bindgen
