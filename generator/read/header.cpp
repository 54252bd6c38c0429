#include "read/header.hpp"

#include "diagnostics.hpp"
#include "files.hpp"
#include "manifest.hpp"
#include "read/clean_text.hpp"
#include "read/declarations.hpp"
#include "read/macros.hpp"
#include "read/parse.hpp"

#include <algorithm>
#include <iterator>
#include <tuple>
#include <utility>

namespace bindgen {

namespace {

std::tuple<unsigned, unsigned> place(const c::Symbol& symbol) {
  return std::visit([](const auto& any) { return std::tuple(any.location.line, any.location.column); }, symbol);
}

// With the standard headers from memory, which are the same everywhere; if they are not enough, with the system's,
// which `source` says then.
std::vector<clang::Unit> parse_for_all(const clang::Index& index, Source& source) {
  const auto parse_all = [&] {
    std::vector<clang::Unit> units;
    for (const char* const target : kTargets) units.push_back(parse(index, source, target));
    return units;
  };
  try {
    return parse_all();
  } catch (const Refusal& refusal) {
    if (!has_system_headers(source)) throw;
    source.standard = Standard::kOfSystem;
    try {
      return parse_all();
    } catch (const Refusal&) {
      // What is wrong with the header itself is wrong either way, and the short headers say less beside it.
      const auto& errors = refusal.diagnostics();
      const bool is_own = std::all_of(errors.begin(), errors.end(), [](const Diagnostic& error) {
        return error.message.find("file not found") == std::string::npos;
      });
      if (is_own) throw refusal;
      throw;
    }
  }
}

// What was read from another machine's headers. Throws Refusal if the layout of a struct depends on those.
std::string borrowed_files(const std::vector<clang::Unit>& units, const Source& source, const c::Header& header) {
  std::string borrowed;
  std::vector<Diagnostic> complaints;
  for (std::size_t i = 0; i < units.size(); ++i) {
    const std::string file = borrowed_file(units[i], source, kTargets[i]);
    if (file.empty()) continue;
    borrowed += (borrowed.empty() ? "" : ", ") + file + " for " + kTargets[i];
    for (const auto& [at, what] : fields_of_other_files(units[i])) {
      complaints.push_back(
          complain(header, at, what + ", and how that lies on " + kTargets[i] + " is not known here", kBorrowedHint));
    }
  }
  if (!complaints.empty()) throw Refusal(std::move(complaints));
  return borrowed;
}

}  // namespace

c::Header read_header(const std::string& path, const std::vector<std::string>& clang_options) {
  const std::string text = read_text(path);
  if (text.compare(0, 2, "\xFF\xFE") == 0 || text.compare(0, 2, "\xFE\xFF") == 0)
    throw Refusal({path, 1, 1}, "is UTF-16, which no C compiler reads here", "",
                  "iconv -f UTF-16 -t UTF-8 converts it");
  c::Header header{path, lines_of(text), sha256(text), {}};
  for (std::string& line : header.lines) line = clean(line);
  const clang::Index index(clang_createIndex(0, 0));
  for (const std::string& option : clang_options) {
    if (option.compare(0, 2, "-x") != 0) continue;
    throw Refusal({path, 0, 0}, "which language this is is not said by " + option, "",
                  "what is C is read with --std=c11, and all else as C++");
  }
  Source source{path, clang_options};
  const std::vector<clang::Unit> units = parse_for_all(index, source);
  const clang::Unit& on_64_bit = units.at(0);
  const clang::Unit& on_arm_64_bit = units.at(1);
  const clang::Unit& on_32_bit = units.at(2);
  header.borrowed = borrowed_files(units, source, header);

  Declarations merged = merge_layouts(header, read_declarations(on_64_bit, header),
                                      read_declarations(on_arm_64_bit, header), read_declarations(on_32_bit, header));
  header.symbols = std::move(merged.symbols);
  header.variables = std::move(merged.variables);
  header.variables_of_machines = std::move(merged.variables_of_machines);
  // Each macro between the declarations that it stands between.
  Macros macros = read_macros(index, units, header, source);
  header.macros_of_machines = std::move(macros.of_machines);
  for (c::Macro& macro : macros.constants) {
    const auto next = std::find_if(header.symbols.begin(), header.symbols.end(), [&](const c::Symbol& symbol) {
      return place(symbol) > std::tuple(macro.location.line, macro.location.column);
    });
    header.symbols.insert(next, std::move(macro));
  }
  return header;
}

Diagnostic warning_of_borrowed(const c::Header& header) {
  return {{header.path, 0, 0},
          "was read with headers of this machine: " + header.borrowed,
          "",
          kBorrowedHint,
          Severity::kWarning};
}

namespace {

// One for each of `left_out`; `why` follows its name.
template <class Kind>
std::vector<Diagnostic> warnings_of(const c::Header& header, const std::vector<Kind>& left_out, const char* why) {
  std::vector<Diagnostic> warnings;
  for (const Kind& one : left_out) {
    warnings.push_back(complain(header, one.location, one.name + why + ", and is left out"));
    warnings.back().severity = Severity::kWarning;
  }
  return warnings;
}

}  // namespace

std::vector<Diagnostic> warnings_of_machines(const c::Header& header) {
  auto warnings = warnings_of(header, header.macros_of_machines, " has not the same value on every machine");
  auto others = warnings_of(header, header.variables_of_machines, " is not the same variable on every machine");
  warnings.insert(warnings.end(), std::make_move_iterator(others.begin()), std::make_move_iterator(others.end()));
  return warnings;
}

std::vector<Diagnostic> warnings_of_variables(const c::Header& header) {
  return warnings_of(header, header.variables, " is a variable, for which there is no method");
}

std::string clang_version() { return clang::text(clang_getClangVersion()); }

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
