// What is read of any declaration: where it stands, and what the comment before it says.
#pragma once

#include "c_facts.hpp"
#include "clang.hpp"

namespace bindgen::clang {

Location location(CXCursor cursor);
Documentation documentation(CXCursor cursor);

}  // namespace bindgen::clang
