// Structs and unions with their fields, and where each lies for the target that a unit was parsed for.
#pragma once

#include "read/c_facts.hpp"
#include "read/clang.hpp"
#include "read/types.hpp"

#include <string>

namespace bindgen {

// The record that is defined at `cursor`, under this name, with those that are declared in it without a name.
// `type` with the content of the struct, union or enum without a name that it is, or is made of: an array of them, or
// what points at one. `but_itself`: not if it is one, whose members are kept otherwise.
enum class Content { kOfAll, kButItself };
void add_content(const TypeReader& types, CXType declared, c::Type& type, Content content);

c::Record read_record(const TypeReader& types, CXCursor cursor, const std::string& name);

}  // namespace bindgen
