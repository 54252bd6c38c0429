// defaults.hpp: what each struct holds before the client's values are read over it, where that is not all zero.
#include "emit_parts.hpp"

#include <optional>

namespace bindgen {
namespace {

bool has_defaults(const Api& api, const c::Record& record, const std::string& path) {
  return any_part(api, record, path, [](const Part&, const Role& role) { return role.default_value.has_value(); });
}

// What a field is set to; nothing for those that stay zero.
std::optional<std::string> initializer(const Api& api, const Part& part) {
  if (const auto& own = api.role(part.path).default_value) return constant_text(*part.type, *own);
  if (part.type->kind != c::TypeKind::kRecord || part.name.empty()) return std::nullopt;
  const std::string& name = part.type->name;
  const c::Record* record = name.empty() ? nullptr : c::find<c::Record>(api.header, name);
  if (record == nullptr || !has_defaults(api, *record, name)) return std::nullopt;
  return "default_of(TypeTag<" + name + ">{})";
}

}  // namespace

BlockFile emit_defaults(const Api& api) {
  BlockWriter writer(
      "defaults",
      "What structs hold before a client's values are read over them, where that is not all zero: the defaults "
      "of the runtime, as they were measured.",
      {support_include(api, "codec_rules"), set_include(api, "abi")});
  CodeText& code = writer.code;
  for (const c::Record* record : c::all<c::Record>(api.header)) {
    if (!has_defaults(api, *record, record->name)) continue;
    code.comment(record->name + ": " + record->documentation.text);
    code.line("constexpr " + record->name + " default_of(TypeTag<" + record->name + ">) {");
    code.indent();
    code.line(record->name + " value{};");
    for (const Part& part : parts_of(api, *record, record->name)) {
      if (const auto text = initializer(api, part)) code.line("value." + part.name + " = " + *text + ";");
    }
    code.line("return value;");
    code.outdent();
    code.line("}");
    writer.finish(record->name);
  }
  return writer.file();
}

}  // namespace bindgen
