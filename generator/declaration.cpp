#include "declaration.hpp"

#include <cctype>

namespace bindgen {
namespace {

std::string param_list(const std::vector<c::Param>& params) {
  std::string list;
  for (const c::Param& param : params) {
    if (!list.empty()) list += ", ";
    list += declaration(param);
  }
  return "(" + (list.empty() ? "void" : list) + ")";
}

bool is_word(char character) { return std::isalnum(static_cast<unsigned char>(character)) != 0 || character == '_'; }

}  // namespace

std::string spelling(const c::Type& type) {
  const std::string constness = type.is_const ? "const " : "";
  if (!type.name.empty()) return constness + type.name;
  if (type.kind == c::TypeKind::kPointer) return spelling(type.target.front()) + (type.is_const ? "* const" : "*");
  if (type.kind == c::TypeKind::kArray) return spelling(type.target.front()) + "[" + std::to_string(type.count) + "]";
  if (type.kind == c::TypeKind::kVoid) return constness + "void";
  return constness + "(unnamed)";
}

std::string declaration(const c::Type& type, const std::string& name) {
  if (type.kind == c::TypeKind::kArray && type.name.empty()) {
    return declaration(type.target.front(), name + "[" + std::to_string(type.count) + "]");
  }
  return spelling(type) + (name.empty() ? "" : " " + name);
}

std::string declaration(const c::Field& field) {
  if (field.inline_record.empty()) return declaration(field.type, field.name);
  const c::Record& record = field.inline_record.front();
  std::string text = record.is_union ? "union { " : "struct { ";
  for (const c::Field& member : record.fields) text += declaration(member) + "; ";
  return text + "}" + (field.name.empty() ? "" : " " + field.name);
}

std::string declaration(const c::Param& param) { return declaration(param.type, param.name); }

std::string declaration(const c::Function& function) {
  return spelling(function.returns) + " " + function.name + param_list(function.params);
}

std::string declaration(const c::Callback& callback) {
  return "typedef " + spelling(callback.returns) + " (*" + callback.name + ")" + param_list(callback.params);
}

std::string declaration(const c::Alias& alias) {
  c::Type type = alias.type;
  type.name.clear();
  const bool is_named_by_target = type.kind != c::TypeKind::kPointer && type.kind != c::TypeKind::kArray;
  return "typedef " + declaration(is_named_by_target ? alias.type : type, alias.name);
}

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
