// Runs clang over a header for one target, as C++17 unless an option names another standard or C: with our standard
// headers from memory or, where these are not enough, with the system's.
#pragma once

#include "diagnostics.hpp"
#include "read/clang.hpp"

#include <array>
#include <string>
#include <vector>

namespace bindgen {

// The targets whose layouts are read. The first two must agree: generated code knows one 64-bit layout.
inline constexpr std::array<const char*, 3> kTargets = {"x86_64-unknown-linux-gnu", "aarch64-unknown-linux-gnu",
                                                        "armv7-unknown-linux-gnueabihf"};

// Where the standard headers of C are from: from memory, or as the system has them.
enum class Standard { kOfOurs, kOfSystem };

struct Source {
  std::string path;
  std::vector<std::string> clang_options;  // the user's
  std::string contents = {};               // not empty: a file that exists in memory only
  Standard standard = Standard::kOfOurs;
};

// Whether the options have the source read as C, by a -std of it. Without, it is read as C++17.
bool is_c(const Source& source);
// Whether each target has headers of the system, be they its own or borrowed.
bool has_system_headers(const Source& source);
// The first file of this machine alone that was read for another target; empty if none was.
std::string borrowed_file(const clang::Unit& unit, const Source& source, const std::string& target);

// A file that clang is to find, without there being one.
struct InMemory {
  std::string path;
  std::string text;
};

// Throws Refusal if clang cannot even begin; what it complains of, errors_of() tells.
clang::Unit run_clang(const clang::Index& index, const std::string& path, const std::vector<std::string>& options,
                      const std::vector<InMemory>& files);
// The errors among clang's complaints, with the lines that they are about.
std::vector<Diagnostic> errors_of(const clang::Unit& unit);

// Throws Refusal with clang's own complaints if any is an error (libclang goes on after errors with an AST that is
// silently wrong: unknown types become int), or if #pragma redefine_extname renames a function that is read as C++.
// Errors name the target if it is not the first.
clang::Unit parse(const clang::Index& index, const Source& source, const std::string& target);

// The same, but errors are the caller's business.
clang::Unit parse_tolerantly(const clang::Index& index, const Source& source, const std::string& target);

}  // namespace bindgen
