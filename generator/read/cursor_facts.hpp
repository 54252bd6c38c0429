// What is read of any declaration: where it stands, and what the comment before it says.
#pragma once

#include "read/c_facts.hpp"
#include "read/clang.hpp"

namespace bindgen::clang {

Location location(CXCursor cursor);
Documentation documentation(CXCursor cursor);

}  // namespace bindgen::clang
