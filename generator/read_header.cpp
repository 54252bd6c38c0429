#include "read_header.hpp"

#include "clean_text.hpp"
#include "diagnostics.hpp"
#include "merge_layouts.hpp"
#include "parse.hpp"
#include "read_declarations.hpp"
#include "read_macros.hpp"
#include "sha256.hpp"
#include "text_file.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

namespace bindgen {

namespace {

std::tuple<unsigned, unsigned> place(const c::Symbol& symbol) {
  return std::visit([](const auto& any) { return std::tuple(any.location.line, any.location.column); }, symbol);
}

}  // namespace

c::Header read_header(const std::string& path, const std::vector<std::string>& include_folders) {
  const Source source{path, include_folders};
  const std::string text = read_text(path);
  c::Header header{path, lines_of(text), sha256(text), {}};
  for (std::string& line : header.lines) line = clean(line);
  const clang::Index index(clang_createIndex(0, 0));
  const clang::Unit on_64_bit = parse(index, source, kTargets[0]);
  const clang::Unit on_arm_64_bit = parse(index, source, kTargets[1]);
  const clang::Unit on_32_bit = parse(index, source, kTargets[2]);

  header.symbols = merge_layouts(header, read_declarations(on_64_bit, header), read_declarations(on_arm_64_bit, header),
                                 read_declarations(on_32_bit, header));
  // Each macro between the declarations that it stands between.
  for (c::Macro& macro : read_macros(index, on_64_bit, header, include_folders)) {
    const auto next = std::find_if(header.symbols.begin(), header.symbols.end(), [&](const c::Symbol& symbol) {
      return place(symbol) > std::tuple(macro.location.line, macro.location.column);
    });
    header.symbols.insert(next, std::move(macro));
  }
  return header;
}

std::vector<Diagnostic> replaced_text(const std::string& path) {
  std::vector<Diagnostic> warnings;
  unsigned number = 0;
  for (const std::string& line : lines_of(read_text(path))) {
    ++number;
    const auto at = first_unclean(line);
    if (at == std::string::npos) continue;
    warnings.push_back({{path, number, static_cast<unsigned>(at + 1)},
                        "is no UTF-8, or a control character; it is replaced in what is made of this header",
                        clean(line),
                        {},
                        Severity::kWarning});
  }
  if (!warnings.empty()) warnings.back().hint = "iconv -f GB18030 -t UTF-8 converts a header from China";
  return warnings;
}

}  // namespace bindgen
