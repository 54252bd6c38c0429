// defaults.hpp: what each struct holds before the client's values are read over it, where that is not all zero.
#include "emit/parts.hpp"

#include <optional>

namespace bindgen {
namespace {

bool has_defaults(const Api& api, const c::Record& record, const std::string& path) {
  return any_part(api, record, path, [](const Part&, const Role& role) { return role.default_value.has_value(); });
}

// What a field is set to; nothing for those that stay zero. Of a union no member is set: the one that is given begins
// with its defaults.
std::optional<std::string> initializer(const Api& api, const Part& part, const std::vector<Part>& parts) {
  if (const auto& own = api.role(part.path).default_value) return constant_text(*part.type, *own);
  if (!holds_record(api, part) || union_of(api, part, parts) != nullptr) return std::nullopt;
  const NamedRecord record = record_of(api, part);
  if (!has_defaults(api, *record.record, record.path)) return std::nullopt;
  return "default_of(TypeTag<" + record.cpp_name + ">{})";
}

}  // namespace

HeaderFile emit_defaults(const Api& api) {
  const Home home = home_of(api);
  HeaderFile header{home,
                    "defaults",
                    "What structs hold before a client's values are read over them, where that is not all zero: the "
                    "defaults of the runtime, as they were measured.",
                    {support_include(api, "codec_rules"), home.include("abi")}};
  CodeText& code = header.code;
  for (const NamedRecord& record : all_records(api)) {
    if (!has_defaults(api, *record.record, record.path)) continue;
    code.comment_on(record.path, record.record->documentation.text);
    code.line("constexpr " + record.cpp_name + " default_of(TypeTag<" + record.cpp_name + ">) {");
    code.indent();
    code.line(record.cpp_name + " value{};");
    const auto parts = parts_of(api, *record.record, record.path);
    for (const Part& part : parts) {
      if (const auto text = initializer(api, part, parts)) code.line("value." + part.name + " = " + *text + ";");
    }
    code.line("return value;");
    code.outdent();
    code.line("}");
    header.end_section();
  }
  return header;
}

}  // namespace bindgen
