// The first step: a C header becomes facts.
#pragma once

#include "diagnostics.hpp"
#include "read/c_facts.hpp"

#include <string>
#include <vector>

namespace bindgen {

// Reads declarations and macro values of the header itself, not of the headers that it includes. Those are taken from
// its own folder, from memory (parse.cpp) or, if these do not do, from the system (system_headers.hpp).
// `clang_options` are clang's own: -D, -I, --sysroot and so on. Throws Refusal if it cannot be read, does not parse for
// each target, or holds a struct whose layout is only known from borrowed headers; and if targets differ in more
// than layouts, variables and macros. Such variables and macros go to `variables_of_machines`, `macros_of_machines`.
c::Header read_header(const std::string& path, const std::vector<std::string>& clang_options = {});

inline constexpr const char* kBorrowedHint =
    "install the headers of those machines (in Debian the C library's are in libc6-dev-arm64-cross and "
    "libc6-dev-armhf-cross, with their compilers), or give --sysroot or -isystem";

// Of a header with `borrowed` headers.
Diagnostic warning_of_borrowed(const c::Header& header);

// One for each of `macros_of_machines` and `variables_of_machines`, of which nothing is told or generated.
std::vector<Diagnostic> warnings_of_machines(const c::Header& header);

// One for each of `variables`, of which nothing is generated.
std::vector<Diagnostic> warnings_of_variables(const c::Header& header);

// "clang version 14.0.6", of the library that reads.
std::string clang_version();

// A warning for each line of the header that read_header() takes otherwise than it is written: see clean_text.hpp.
std::vector<Diagnostic> replaced_text(const std::string& path);

}  // namespace bindgen
