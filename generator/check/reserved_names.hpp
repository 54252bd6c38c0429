// Names that C allows and generated code cannot declare.
#pragma once

#include <string>

namespace bindgen {

// Nothing may be called so, fields and parameters included.
bool is_word_of_cpp20(const std::string& name);
// A macro of the standard headers of C, or of what else the support headers include: it would replace the name.
bool is_macro_of_c(const std::string& name);

// What a name is declared as. More names are refused for a constant than for a function, which a table calls.
enum class Declares { kType, kConstant, kFunction, kParam };
// Whether generated code means something else by this name, beside what the header declares.
bool is_of_generated_code(const std::string& name, Declares declares);

}  // namespace bindgen
