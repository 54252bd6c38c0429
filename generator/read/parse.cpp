#include "read/parse.hpp"

#include "diagnostics.hpp"
#include "files.hpp"
#include "read/clean_text.hpp"
#include "read/system_headers.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <regex>
#include <string_view>
#include <vector>

namespace bindgen {
namespace {

// The standard headers that C interfaces include, from memory: only the types that declarations are made of. What the
// machine has installed is made for its own processor and would give the layouts of that one for every target. (clang
// itself brings stddef.h, stdint.h, stdbool.h, stdarg.h and limits.h, for each target.)
struct StandardHeader {
  const char* name;
  const char* text;
};

// The types are those of Linux: `long` follows the target. On 32-bit ARM that gives time_t 32 bits, its classic size.
constexpr std::array<StandardHeader, 14> kStandardHeaders = {{
    {"cstdint", "#include <stdint.h>\n"},
    {"cstddef", "#include <stddef.h>\n"},
    {"cstdbool", "#include <stdbool.h>\n"},
    {"climits", "#include <limits.h>\n"},
    {"assert.h", ""},
    {"errno.h", ""},
    {"inttypes.h", "#include <stdint.h>\n"},
    {"stdio.h", "#pragma once\n#include <stddef.h>\ntypedef struct _IO_FILE FILE;\n"},
    {"stdlib.h", "#include <stddef.h>\n"},
    {"string.h", "#include <stddef.h>\n"},
    {"sys/time.h", "#pragma once\n#include <sys/types.h>\nstruct timeval { time_t tv_sec; long tv_usec; };\n"},
    {"sys/types.h",
     "#pragma once\n#include <stddef.h>\ntypedef long ssize_t;\ntypedef long off_t;\ntypedef long time_t;\n"
     "typedef int pid_t;\ntypedef unsigned int uid_t;\ntypedef unsigned int gid_t;\ntypedef unsigned int mode_t;\n"},
    {"time.h", "#pragma once\n#include <sys/types.h>\nstruct timespec { time_t tv_sec; long tv_nsec; };\n"},
    {"unistd.h", "#include <sys/types.h>\n"},
}};

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

// As clang takes them: names that outlive the call.
std::vector<const char*> pointers(const std::vector<std::string>& texts) {
  std::vector<const char*> all;
  for (const std::string& text : texts) all.push_back(text.c_str());
  return all;
}

// What clang complains of, as far as `is_one` says so.
std::vector<Diagnostic> complaints_of(const clang::Unit& unit, bool (*is_one)(CXDiagnostic)) {
  std::vector<Diagnostic> complaints;
  for (unsigned i = 0; i < clang_getNumDiagnostics(unit.get()); ++i) {
    CXDiagnostic diagnostic = clang_getDiagnostic(unit.get(), i);
    if (is_one(diagnostic)) {
      Diagnostic complaint{
          location_of(diagnostic), clean(clang::text(clang_getDiagnosticSpelling(diagnostic))), {}, {}};
      if (std::filesystem::exists(complaint.at.file)) {
        const auto lines = lines_of(read_text(complaint.at.file));
        if (complaint.at.line >= 1 && complaint.at.line <= lines.size())
          complaint.source_line = clean(lines[complaint.at.line - 1]);
      }
      complaints.push_back(std::move(complaint));
    }
    clang_disposeDiagnostic(diagnostic);
  }
  return complaints;
}

// The first file below the folder that was included; empty: none was.
std::string file_read_from(const clang::Unit& unit, const std::string& folder) {
  struct Search {
    std::string folder;
    std::string found;
  };
  Search search{folder + "/", {}};
  clang_getInclusions(
      unit.get(),
      [](CXFile file, CXSourceLocation*, unsigned, CXClientData data) {
        auto& at = *static_cast<Search*>(data);
        const std::string path = clang::text(clang_getFileName(file));
        if (at.found.empty() && path.starts_with(at.folder)) at.found = path;
      },
      &search);
  return search.found;
}

// Functions to which #pragma redefine_extname gives another name where the header is read as C. Here it is read as C++,
// which warns and leaves the name alone, unless they are in extern "C": then they are read with that name.
std::vector<Diagnostic> renamed_by_pragma(const clang::Unit& unit) {
  auto renamed = complaints_of(unit, [](CXDiagnostic diagnostic) {
    return clang::text(clang_getDiagnosticSpelling(diagnostic)).find("redefine_extname") != std::string::npos;
  });
  for (Diagnostic& each : renamed) {
    each.message = "this is called otherwise in the library, by #pragma redefine_extname";
    each.hint = "no table of functions can find it by its name; write extern \"C\" around it to read it all the same";
  }
  return renamed;
}

}  // namespace

std::vector<Diagnostic> errors_of(const clang::Unit& unit) {
  return complaints_of(
      unit, [](CXDiagnostic diagnostic) { return clang_getDiagnosticSeverity(diagnostic) >= CXDiagnostic_Error; });
}

clang::Unit run_clang(const clang::Index& index, const std::string& path, const std::vector<std::string>& options,
                      const std::vector<InMemory>& files) {
  const std::vector<const char*> arguments = pointers(options);
  std::vector<CXUnsavedFile> in_memory;
  for (const InMemory& file : files) in_memory.push_back({file.path.c_str(), file.text.data(), file.text.size()});
  CXTranslationUnit unit = nullptr;
  const CXErrorCode code = clang_parseTranslationUnit2(
      index.get(), path.c_str(), arguments.data(), static_cast<int>(arguments.size()), in_memory.data(),
      static_cast<unsigned>(in_memory.size()),
      // Names that a pragma gives are implicit attributes.
      CXTranslationUnit_DetailedPreprocessingRecord | CXTranslationUnit_VisitImplicitAttributes, &unit);
  if (code != CXError_Success)
    throw Refusal({path, 0, 0}, "clang cannot read this file", "",
                  "an option behind -- may be none that goes with the others");
  return clang::Unit(unit);
}

bool is_c(const Source& source) {
  static const std::regex kStandardOfC("--?std=(c|gnu|iso9899:)[0-9].*");
  bool found = false;
  for (const std::string& option : source.clang_options) {
    if (option.compare(0, 5, "-std=") != 0 && option.compare(0, 6, "--std=") != 0) continue;
    found = std::regex_match(option, kStandardOfC);  // the last one counts
  }
  return found;
}

bool has_system_headers(const Source& source) {
  return std::all_of(kTargets.begin(), kTargets.end(), [&](const char* target) {
    return system_headers(target, Language::kC, source.clang_options).has_value();
  });
}

std::string borrowed_file(const clang::Unit& unit, const Source& source, const std::string& target) {
  if (source.standard == Standard::kOfOurs) return "";
  for (const std::string& folder : folders_of_sysroot(target, source.clang_options).foreign) {
    if (std::string file = file_read_from(unit, folder); !file.empty()) return file;
  }
  if (is_this_machine(target)) return "";
  const auto& headers = system_headers(target, Language::kC, source.clang_options);
  const bool are_all = headers && headers->are_borrowed;
  const std::vector<std::string>& folders = folders_of_this_machine();
  for (const std::string& folder : folders) {
    if (std::string file = file_read_from(unit, folder); !file.empty() && file != source.path) return file;
    // Where the first folder is for one processor, the others are for all.
    if (folders.size() > 1 && !are_all) break;
  }
  return "";
}

clang::Unit parse_tolerantly(const clang::Index& index, const Source& source, const std::string& target) {
  std::string directory = std::filesystem::path(source.path).parent_path().string();
  if (directory.empty()) directory = ".";
  std::vector<std::string> options = {"--target=" + target, "-x"};
  if (is_c(source)) {
    options.insert(options.end(), {"c"});
  } else {
    // _Bool is a word of C only. C++ calls the type bool.
    options.insert(options.end(), {"c++", "-std=c++17", "-nostdinc++", "-D_Bool=bool"});
  }
  if (source.standard == Standard::kOfOurs) {
    options.insert(options.end(), {"-nostdlibinc", "-ffreestanding"});
  } else if (const auto& headers = system_headers(target, Language::kC, source.clang_options)) {
    options.insert(options.end(), headers->options.begin(), headers->options.end());
    // A system that is for another target, or has no headers of C, still has those of its libraries.
    const SysrootFolders folders = folders_of_sysroot(target, source.clang_options);
    for (const std::string& folder : folders.own) options.insert(options.end(), {"-idirafter", folder});
    for (const std::string& folder : folders.foreign) options.insert(options.end(), {"-idirafter", folder});
    // A library that is installed for this machine only; read_header() tells of it.
    for (const std::string& folder : folders_of_this_machine()) {
      options.insert(options.end(), {"-idirafter", folder});
    }
  }
  options.emplace_back("-Werror=enum-too-large");  // no type holds all its values, so clang gives some another sign
  for (const char* name : {"stddef.h", "stdbool.h", "stdint.h"}) options.insert(options.end(), {"-include", name});
  options.insert(options.end(), {"-idirafter", directory});
  options.insert(options.end(), source.clang_options.begin(), source.clang_options.end());

  // The standard headers from memory, as if they lay in the directory of the header (one that exists, as clang
  // demands). Those of C++ are the same with the system's.
  std::vector<InMemory> in_memory;
  for (const auto& [name, text] : kStandardHeaders) {
    const bool is_of_c = std::string_view(name).find(".h") != std::string_view::npos;
    if (source.standard == Standard::kOfOurs || !is_of_c) in_memory.push_back({directory + "/" + name, text});
  }
  if (!source.contents.empty()) in_memory.push_back({source.path, source.contents});
  return run_clang(index, source.path, options, in_memory);
}

clang::Unit parse(const clang::Index& index, const Source& source, const std::string& target) {
  clang::Unit unit = parse_tolerantly(index, source, target);
  std::vector<Diagnostic> errors = errors_of(unit);
  if (errors.empty()) {
    if (auto renamed = renamed_by_pragma(unit); !renamed.empty()) throw Refusal(std::move(renamed));
    return unit;
  }
  errors.back().hint = kHint;
  // What the options include has no place of its own: it is clang that is incomplete, not the header.
  if (errors.front().at.file.empty()) throw Refusal({source.path, 0, 0}, errors.front().message, "", kOwnHeadersHint);
  if (target != kTargets[0]) {
    for (Diagnostic& error : errors) error.message += ", where it is read for " + target;
  }
  throw Refusal(std::move(errors));
}

}  // namespace bindgen
