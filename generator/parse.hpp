// Runs clang over a header: as C++, for one pinned target, with nothing of the machine's own headers.
#pragma once

#include "clang.hpp"

#include <array>
#include <string>
#include <vector>

namespace bindgen {

// The targets whose layouts are read. The first two must agree: generated code knows one 64-bit layout.
inline constexpr std::array<const char*, 3> kTargets = {"x86_64-unknown-linux-gnu", "aarch64-unknown-linux-gnu",
                                                        "armv7-unknown-linux-gnueabihf"};

struct Source {
  std::string path;
  std::vector<std::string> include_folders;  // searched after the folder of the source
  std::string contents = {};                 // not empty: a file that exists in memory only
};

// Throws Refusal with clang's own complaints if any is an error: libclang goes on after errors with an AST that is
// silently wrong (unknown types become int).
clang::Unit parse(const clang::Index& index, const Source& source, const std::string& target);

// The same, but errors are the caller's business.
clang::Unit parse_tolerantly(const clang::Index& index, const Source& source, const std::string& target);

}  // namespace bindgen
