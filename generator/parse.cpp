#include "parse.hpp"

#include "clean_text.hpp"
#include "diagnostics.hpp"
#include "standard_headers.hpp"
#include "text_file.hpp"

#include <filesystem>
#include <vector>

namespace bindgen {
namespace {

constexpr const char* kOwnHeadersHint =
    "clang looks for its own headers beside its library; in Debian they are in the package "
    "libclang-common-<version>-dev";

constexpr const char* kHint =
    "a header must parse without errors: after one, clang takes unknown types for int, and every layout would be wrong";

Location location_of(CXDiagnostic diagnostic) {
  CXFile file = nullptr;
  Location at;
  clang_getFileLocation(clang_getDiagnosticLocation(diagnostic), &file, &at.line, &at.column, nullptr);
  at.file = clang::text(clang_getFileName(file));
  return at;
}

std::vector<Diagnostic> errors_of(CXTranslationUnit unit, const std::string& path) {
  std::vector<Diagnostic> errors;
  for (unsigned i = 0; i < clang_getNumDiagnostics(unit); ++i) {
    CXDiagnostic diagnostic = clang_getDiagnostic(unit, i);
    if (clang_getDiagnosticSeverity(diagnostic) >= CXDiagnostic_Error) {
      Diagnostic error{location_of(diagnostic), clang::text(clang_getDiagnosticSpelling(diagnostic)), {}, {}};
      if (std::filesystem::exists(error.at.file)) {
        const auto lines = lines_of(read_text(error.at.file));
        if (error.at.line >= 1 && error.at.line <= lines.size()) error.source_line = clean(lines[error.at.line - 1]);
      }
      errors.push_back(std::move(error));
    }
    clang_disposeDiagnostic(diagnostic);
  }
  if (!errors.empty()) errors.back().hint = kHint;
  // What the options include has no place of its own: it is clang that is incomplete, not the header.
  if (!errors.empty() && errors.front().at.file.empty()) {
    return {{{path, 0, 0}, errors.front().message, "", kOwnHeadersHint}};
  }
  return errors;
}

}  // namespace

clang::Unit parse_tolerantly(const clang::Index& index, const Source& source, const std::string& target) {
  std::string directory = std::filesystem::path(source.path).parent_path().string();
  if (directory.empty()) directory = ".";
  std::vector<std::string> options = {"-x",          "c++",          "-std=c++17",     "--target=" + target,
                                      "-nostdinc++", "-nostdlibinc", "-ffreestanding", "-idirafter",
                                      directory,     "-include",     "stddef.h",       "-include",
                                      "stdbool.h",   "-include",     "stdint.h"};
  for (const std::string& folder : source.include_folders) options.insert(options.end(), {"-idirafter", folder});
  std::vector<const char*> arguments;
  for (const std::string& option : options) arguments.push_back(option.c_str());

  // The standard headers from memory, as if they lay in the directory of the header (one that exists, as clang
  // demands).
  std::vector<std::string> names;
  std::vector<CXUnsavedFile> in_memory;
  names.reserve(kStandardHeaders.size());
  for (const auto& [name, text] : kStandardHeaders) {
    names.push_back(directory + "/" + name);
    in_memory.push_back({names.back().c_str(), text, std::char_traits<char>::length(text)});
  }
  if (!source.contents.empty()) {
    in_memory.push_back({source.path.c_str(), source.contents.data(), source.contents.size()});
  }

  CXTranslationUnit unit = nullptr;
  const CXErrorCode code = clang_parseTranslationUnit2(
      index.get(), source.path.c_str(), arguments.data(), static_cast<int>(arguments.size()), in_memory.data(),
      static_cast<unsigned>(in_memory.size()), CXTranslationUnit_DetailedPreprocessingRecord, &unit);
  if (code != CXError_Success) throw Refusal({source.path, 0, 0}, "clang cannot read this file");
  return clang::Unit(unit);
}

clang::Unit parse(const clang::Index& index, const Source& source, const std::string& target) {
  clang::Unit unit = parse_tolerantly(index, source, target);
  if (auto errors = errors_of(unit.get(), source.path); !errors.empty()) throw Refusal(std::move(errors));
  return unit;
}

}  // namespace bindgen
