// enums.hpp: every enumerator with its name on the wire.
#include "emit/parts.hpp"

namespace bindgen {

HeaderFile emit_enums(const Api& api) {
  const Home home = home_of(api);
  HeaderFile header{home,
                    "enums",
                    "Enumerators and their names on the wire.",
                    {support_include(api, "codec_rules"), home.include("abi"), "<span>"}};
  CodeText& code = header.code;
  for (const c::Enum* entity : c::all<c::Enum>(api.header)) {
    if (entity->name.empty()) continue;
    code.comment_on(entity->name, entity->documentation.text);
    code.line("inline constexpr EnumName<" + entity->name + "> k" + entity->name + "Names[] = {");
    code.indent();
    code.indent();
    for (const c::Enumerator& enumerator : entity->enumerators) {
      code.line("{" + enumerator.name + ", " + literal(enumerator.name) + "},");
    }
    code.outdent();
    code.outdent();
    code.line("};");
    code.line("constexpr std::span<const EnumName<" + entity->name + ">> names_of(" + entity->name + ") { return k" +
              entity->name + "Names; }");
    header.end_section();
  }
  return header;
}

}  // namespace bindgen
