#include "parse.hpp"

#include "diagnostics.hpp"
#include "text_file.hpp"

#include <filesystem>
#include <vector>

namespace bindgen {
namespace {

// C headers in their C++ spelling. There is no C++ library for every target on every machine, so these few are given
// from memory, as if they lay in the directory of the header (a directory that exists, as clang demands).
constexpr std::array<std::array<const char*, 2>, 4> kStandardHeaders = {{{"cstdint", "#include <stdint.h>\n"},
                                                                         {"cstddef", "#include <stddef.h>\n"},
                                                                         {"cstdbool", "#include <stdbool.h>\n"},
                                                                         {"climits", "#include <limits.h>\n"}}};

constexpr const char* kHint =
    "a header must parse without errors: after one, clang takes unknown types for int, and every layout would be wrong";

Location location_of(CXDiagnostic diagnostic) {
  CXFile file = nullptr;
  Location at;
  clang_getFileLocation(clang_getDiagnosticLocation(diagnostic), &file, &at.line, &at.column, nullptr);
  at.file = clang::text(clang_getFileName(file));
  return at;
}

std::vector<Diagnostic> errors_of(CXTranslationUnit unit) {
  std::vector<Diagnostic> errors;
  for (unsigned i = 0; i < clang_getNumDiagnostics(unit); ++i) {
    CXDiagnostic diagnostic = clang_getDiagnostic(unit, i);
    if (clang_getDiagnosticSeverity(diagnostic) >= CXDiagnostic_Error) {
      Diagnostic error{location_of(diagnostic), clang::text(clang_getDiagnosticSpelling(diagnostic)), {}, {}};
      if (std::filesystem::exists(error.at.file)) {
        const auto lines = lines_of(read_text(error.at.file));
        if (error.at.line >= 1 && error.at.line <= lines.size()) error.source_line = lines[error.at.line - 1];
      }
      errors.push_back(std::move(error));
    }
    clang_disposeDiagnostic(diagnostic);
  }
  if (!errors.empty()) errors.back().hint = kHint;
  return errors;
}

}  // namespace

clang::Unit parse_tolerantly(const clang::Index& index, const std::string& path, const std::string& target,
                             const std::string& contents) {
  std::string directory = std::filesystem::path(path).parent_path().string();
  if (directory.empty()) directory = ".";
  const std::string target_option = "--target=" + target;
  const std::vector<const char*> options = {"-x",
                                            "c++",
                                            "-std=c++17",
                                            target_option.c_str(),
                                            "-nostdinc++",
                                            "-nostdlibinc",
                                            "-ffreestanding",
                                            "-idirafter",
                                            directory.c_str(),
                                            "-include",
                                            "stddef.h",
                                            "-include",
                                            "stdbool.h",
                                            "-include",
                                            "stdint.h"};
  std::vector<std::string> names;
  std::vector<CXUnsavedFile> in_memory;
  names.reserve(kStandardHeaders.size());
  for (const auto& [name, text] : kStandardHeaders) {
    names.push_back(directory + "/" + name);
    in_memory.push_back({names.back().c_str(), text, std::char_traits<char>::length(text)});
  }
  if (!contents.empty()) in_memory.push_back({path.c_str(), contents.data(), contents.size()});

  CXTranslationUnit unit = nullptr;
  const CXErrorCode code = clang_parseTranslationUnit2(
      index.get(), path.c_str(), options.data(), static_cast<int>(options.size()), in_memory.data(),
      static_cast<unsigned>(in_memory.size()), CXTranslationUnit_DetailedPreprocessingRecord, &unit);
  if (code != CXError_Success) throw Refusal({path, 0, 0}, "clang cannot read this file");
  return clang::Unit(unit);
}

clang::Unit parse(const clang::Index& index, const std::string& path, const std::string& target,
                  const std::string& contents) {
  clang::Unit unit = parse_tolerantly(index, path, target, contents);
  if (auto errors = errors_of(unit.get()); !errors.empty()) throw Refusal(std::move(errors));
  return unit;
}

}  // namespace bindgen
