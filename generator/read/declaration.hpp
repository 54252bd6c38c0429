// C declarations as text, composed from facts: one spelling whatever the header's formatting and whatever libclang's
// version, and never a path, which libclang puts into the names of unnamed structs.
#pragma once

#include "read/c_facts.hpp"

#include <string>

namespace bindgen {

std::string text(const Layout& layout);                                 // "64/56": on 64 bit, on 32 bit
std::string spelling(const c::Type& type);                              // "const char*", "uint8_t[104]"
std::string declaration(const c::Type& type, const std::string& name);  // "uint8_t reserved[104]"
// A function, or a pointer to one: C wraps such a declaration around the name instead of ending it with the name.
bool wraps_its_name(const c::Type& type);
std::string declaration(const c::Field& field);  // unnamed structs with their members
std::string declaration(const c::Record& record);
// Where the fields lie, and how large they are: "{ a @0/0 size 4/4, b @8/4 size 8/4 }, size 16/8, align 8/4".
std::string places(const c::Record& record);
// The same of each struct without a name that it is made of; of a type with names, nothing.
std::string places(const c::Type& type);
std::string declaration(const c::Enum& entity);
std::string declaration(const c::Param& param);
std::string declaration(const c::Function& function);
std::string declaration(const c::Callback& callback);
std::string declaration(const c::Variable& variable);
std::string declaration(const c::Alias& alias);

// The same declaration, however it is spaced: blanks only where they separate words, no final semicolon.
std::string normalized(const std::string& declaration);

}  // namespace bindgen
