#include "read/macros.hpp"

#include "read/clean_text.hpp"
#include "read/documentation.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>

namespace bindgen {
namespace {

struct Value {
  decltype(c::Macro::value) value;
  std::string no_constant = {};  // why generated code cannot hold it; then `value` is nothing
  bool operator==(const Value&) const = default;
};

// Name and body, as the tokens stand in the source.
std::pair<std::string, std::string> definition(CXTranslationUnit unit, CXCursor macro) {
  CXToken* tokens = nullptr;
  unsigned count = 0;
  clang_tokenize(unit, clang_getCursorExtent(macro), &tokens, &count);
  std::string body;
  for (unsigned i = 1; i < count; ++i) {
    if (!body.empty()) body += ' ';
    body += clean(clang::text(clang_getTokenSpelling(unit, tokens[i])));
  }
  clang_disposeTokens(unit, tokens, count);
  return {clang::spelling(macro), body};
}

// The string literal that a variable is initialised with, below the conversion of it to a pointer.
CXCursor literal_in(CXCursor variable) {
  CXCursor at = variable;
  while (clang_getCursorKind(at) != CXCursor_StringLiteral) {
    const auto inside = clang::children(at);
    if (inside.empty()) return clang_getNullCursor();
    at = inside.back();
  }
  return at;
}

// `text` is what clang tells of the literal: it takes each byte for a character, and ends at the first NUL.
Value text_value(CXCursor literal, const std::string& text) {
  const CXType type = clang_getCursorType(literal);
  const CXTypeKind character = clang_getArrayElementType(type).kind;
  if (character != CXType_Char_S && character != CXType_Char_U) return {0, "a text of wide characters"};
  if (clang_getArraySize(type) != static_cast<long long>(text.size()) + 1) return {0, "a text with NUL in it"};
  if (!is_utf8(text)) return {0, "a text that is no UTF-8"};
  return {text};
}

std::optional<Value> evaluate(CXCursor variable) {
  const std::unique_ptr<void, decltype(&clang_EvalResult_dispose)> result(clang_Cursor_Evaluate(variable),
                                                                          &clang_EvalResult_dispose);
  if (result == nullptr) return std::nullopt;
  switch (clang_EvalResult_getKind(result.get())) {
    case CXEval_Int: {
      const auto value = static_cast<std::int64_t>(clang_EvalResult_getAsLongLong(result.get()));
      if (value >= 0 || clang_EvalResult_isUnsignedInt(result.get()) == 0) return Value{value};
      return Value{static_cast<std::uint64_t>(clang_EvalResult_getAsUnsigned(result.get()))};
    }
    case CXEval_Float: {
      const double value = clang_EvalResult_getAsDouble(result.get());
      return std::isfinite(value) ? Value{value} : Value{0, "no finite number"};
    }
    case CXEval_StrLiteral: {
      const CXCursor literal = literal_in(variable);
      if (clang_Cursor_isNull(literal) != 0) return std::nullopt;
      return text_value(literal, clang_EvalResult_getAsStr(result.get()));
    }
    default: return std::nullopt;
  }
}

// Lines of the main file that clang complains about: initialisers that are no expressions.
std::set<unsigned> lines_with_errors(CXTranslationUnit unit) {
  std::set<unsigned> lines;
  for (unsigned i = 0; i < clang_getNumDiagnostics(unit); ++i) {
    CXDiagnostic diagnostic = clang_getDiagnostic(unit, i);
    unsigned line = 0;
    clang_getExpansionLocation(clang_getDiagnosticLocation(diagnostic), nullptr, &line, nullptr, nullptr);
    if (clang_getDiagnosticSeverity(diagnostic) >= CXDiagnostic_Error) lines.insert(line);
    clang_disposeDiagnostic(diagnostic);
  }
  return lines;
}

using Values = std::map<std::size_t, Value>;  // by number of the candidate

// Where the values of macros are asked for. There are two such places, since a macro that depends on its place
// (__LINE__, __FILE__, __COUNTER__, __DATE__) is no constant: its values differ.
struct Place {
  const char* file;         // behind the header's path
  unsigned lines_before;    // before the first candidate, the #include among them
  const char* first_lines;  // their text, behind the #include
  const char* date;         // what __DATE__, __TIME__ and __TIMESTAMP__ stand for
};
constexpr Place kPlaces[] = {
    {".values.cpp", 1, "\n", "one"},
    {".values_elsewhere.cpp", 3, "\nstatic const int bindgen_counted = __COUNTER__;\n\n", "two"}};

Values values_of(const clang::Index& index, Source source, const std::vector<c::Macro>& candidates,
                 const std::string& target, const Place& place) {
  std::string text = "#include \"" + std::filesystem::path(source.path).filename().string() + "\"" + place.first_lines;
  // Each on a line of its own: clang recovers from an error within its line.
  const std::string type = is_c(source) ? "static const __auto_type " : "const auto ";
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    text += type + "bindgen_value_" + std::to_string(i) + " = " + candidates[i].name + ";\n";
  }
  source.path += place.file;
  source.contents = text;
  source.clang_options.emplace_back("-Wno-builtin-macro-redefined");
  for (const char* name : {"__DATE__", "__TIME__", "__TIMESTAMP__"}) {
    source.clang_options.push_back(std::string("-D") + name + "=\"" + place.date + "\"");
  }
  const clang::Unit unit = parse_tolerantly(index, source, target);
  const std::set<unsigned> bad = lines_with_errors(unit.get());
  Values values;
  for (const CXCursor cursor : clang::children(clang_getTranslationUnitCursor(unit.get()))) {
    if (clang_getCursorKind(cursor) != CXCursor_VarDecl) continue;
    if (clang_Location_isFromMainFile(clang_getCursorLocation(cursor)) == 0) continue;
    unsigned line = 0;
    clang_getExpansionLocation(clang_getCursorLocation(cursor), nullptr, &line, nullptr, nullptr);
    if (line <= place.lines_before || bad.count(line) != 0) continue;
    if (auto value = evaluate(cursor)) values.emplace(line - place.lines_before - 1, std::move(*value));
  }
  return values;
}

// Of one machine's reading, macros of the header itself that could have a value.
void add_candidates(const clang::Unit& unit, const c::Header& header, std::set<std::string>& known,
                    std::vector<c::Macro>& candidates) {
  for (const CXCursor cursor : clang::children(clang_getTranslationUnitCursor(unit.get()))) {
    if (clang_getCursorKind(cursor) != CXCursor_MacroDefinition) continue;
    const CXSourceLocation at = clang_getCursorLocation(cursor);
    if (clang_Location_isFromMainFile(at) == 0 || clang_Cursor_isMacroFunctionLike(cursor) != 0) continue;
    auto [name, body] = definition(unit.get(), cursor);
    if (body.empty() || body == name) continue;  // the latter says that an enumerator of that name is there
    if (!known.insert(name).second) continue;
    Location location{header.path, 0, 0};
    clang_getFileLocation(at, nullptr, &location.line, &location.column, nullptr);
    candidates.push_back({std::move(name),
                          std::move(body),
                          {},
                          {},
                          location,
                          parse_comment(comment_above(header.lines, location.line))});
  }
}

}  // namespace

Macros read_macros(const clang::Index& index, const std::vector<clang::Unit>& units, const c::Header& header,
                   const Source& source) {
  std::vector<c::Macro> candidates;
  std::set<std::string> known;
  for (const clang::Unit& unit : units) add_candidates(unit, header, known, candidates);
  if (candidates.empty()) return {};
  std::sort(candidates.begin(), candidates.end(), [](const c::Macro& one, const c::Macro& two) {
    return std::tie(one.location.line, one.location.column) < std::tie(two.location.line, two.location.column);
  });

  std::vector<Values> values;
  for (const char* const target : kTargets) values.push_back(values_of(index, source, candidates, target, kPlaces[0]));
  const Values elsewhere = values_of(index, source, candidates, kTargets[0], kPlaces[1]);
  Macros macros;
  for (std::size_t number = 0; number < candidates.size(); ++number) {
    const auto of = [number](const Values& all) {
      const auto found = all.find(number);
      return found == all.end() ? std::nullopt : std::optional<Value>(found->second);
    };
    const std::optional<Value> value = of(values[0]);
    c::Macro& macro = candidates[number];
    if (of(values[1]) != value || of(values[2]) != value) {
      macros.of_machines.push_back(std::move(macro));
    } else if (value && of(elsewhere) == value) {
      macro.no_constant = value->no_constant;
      if (value->no_constant.empty()) {
        macro.value = value->value;
      } else {
        macro.value = macro.body;
      }
      macros.constants.push_back(std::move(macro));
    }
  }
  return macros;
}

}  // namespace bindgen
