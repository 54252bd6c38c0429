// What is read of any declaration: where it stands, and what the comment before it says.
#pragma once

#include "read/c_facts.hpp"
#include "read/clang.hpp"

namespace bindgen::clang {

Location location(CXCursor cursor);
unsigned place(CXSourceLocation location);  // in its file, in bytes; macros are where they are used
// `has_comment`: false if the comment that clang has for it is another declaration's.
Documentation documentation(CXCursor cursor, bool has_comment = true);

}  // namespace bindgen::clang
