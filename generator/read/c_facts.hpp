// What a C header says, as plain values: names, types, layouts, documentation. Nothing here is guessed and nothing
// interpreted; what it means on the wire is in model.hpp.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace bindgen {

struct Location {
  std::string file;
  unsigned line = 0;
  unsigned column = 0;
};

// A size or an offset in bytes, where pointers have 64 bits and where they have 32.
struct Layout {
  std::uint64_t on_64_bit = 0;
  std::uint64_t on_32_bit = 0;
  bool operator==(const Layout&) const = default;
};

struct Documentation {
  std::string text;
  std::vector<std::pair<std::string, std::string>> params;
  std::string returns;
  bool is_deprecated = false;                  // by an attribute, or @deprecated; `text` says so, too
  std::vector<std::string> deprecations = {};  // the paragraphs of `text` that say so, in their order

  std::string of_param(const std::string& name) const {
    for (const auto& [param, documentation] : params) {
      if (param == name) return documentation;
    }
    return {};
  }
};

}  // namespace bindgen

namespace bindgen::c {

enum class TypeKind {
  kVoid,
  kBool,
  kCharacter,  // plain char
  kSigned,
  kUnsigned,
  kFloat,   // 32 bits
  kDouble,  // 64 bits
  kEnum,
  kRecord,    // struct or union
  kFunction,  // only as the target of a pointer
  kPointer,
  kArray,
  kOther,  // long double, va_list, vectors, complex numbers: no wire form exists
};

struct Record;

struct Type {
  TypeKind kind = TypeKind::kVoid;
  std::string
      name;  // as the header spells it, without const and volatile: "int32_t", or a typedef's name of a pointer. Empty
             // for pointers, arrays and functions without a name of their own, and for unnamed structs.
  bool is_const = false;
  bool is_volatile = false;
  Layout size = {};
  std::vector<Type> target = {};  // what a pointer points at, an array consists of, a function returns: exactly one
  std::uint64_t count = 0;        // of an array; 0 if it is declared as []
  std::vector<Type> params = {};  // of a function
  bool is_variadic = false;       // of a function
  std::string beyond_c = {};      // "a class": what it is, if the header is C++ there
  bool has_own_call = false;      // of a function: an attribute has it called in another way than C calls functions
  // Of a struct or union without a name, unless a field holds it in place or a typedef leads to it: what it holds,
  // placed from its own beginning. None or one; without an initial value, since Record is incomplete here.
  std::vector<Record> content;
};

inline bool is_integer(const Type& type) { return type.kind == TypeKind::kSigned || type.kind == TypeKind::kUnsigned; }
inline bool is_floating(const Type& type) { return type.kind == TypeKind::kFloat || type.kind == TypeKind::kDouble; }
inline bool is_number(const Type& type) { return is_integer(type) || is_floating(type); }

struct Field {
  std::string name;  // empty for an anonymous struct or union, whose members belong to the enclosing struct
  Type type;
  std::vector<Record> inline_record;  // the type itself, if it is declared in place: none or one
  Layout offset;                      // from the start of the outermost struct
  unsigned bit_width = 0;             // of a bit-field, which begins `first_bit` bits behind `offset`; 0: it is none
  Layout first_bit;
  Location location;
  Documentation documentation;
};

struct Record {
  bool is_union = false;
  std::string name;
  std::vector<Field> fields;
  Layout size;
  Layout align;
  Location location;
  Documentation documentation;
  std::string beyond_c = {};  // "a base class": what makes it more than its fields, if the header is C++ there
};

struct Enumerator {
  std::string name;
  std::int64_t value = 0;
  Location location;
  Documentation documentation;
};

struct Enum {
  std::string name;
  Type underlying;
  std::vector<Enumerator> enumerators;
  Location location;
  Documentation documentation;
};

struct Param {
  std::string name;
  Type type;
  Location location;
  bool is_array = false;     // declared as one, which C passes as a pointer
  std::uint64_t extent = 0;  // of an array: how many elements it is declared to have; 0 for []
};

struct Opaque {  // a struct or union whose content the header keeps to itself
  bool is_union = false;
  std::string name;
  Location location;
  Documentation documentation;
};

struct Callback {  // a typedef of a pointer to a function
  std::string name;
  Type returns;
  std::vector<Param> params;
  bool is_variadic = false;
  Location location;
  Documentation documentation;
  bool has_own_call = false;
};

struct Function {
  std::string name;
  Type returns;
  std::vector<Param> params;
  bool is_variadic = false;
  Location location;
  Documentation documentation;
  std::string symbol = {};  // by which a library exports it: its name, unless __asm__ gives another
  bool has_own_call = false;
};

struct Alias {  // any other typedef
  std::string name;
  Type type;
  Location location;
  Documentation documentation;
};

struct Variable {  // that a library exports
  std::string name;
  Type type;
  Location location;
  Documentation documentation;
  std::string symbol = {};  // by which the library exports it: its name, unless __asm__ gives another
};

struct Macro {  // one that has a value, the same on every machine
  std::string name;
  std::string body;
  std::variant<std::int64_t, std::uint64_t, double, std::string>
      value;                // std::uint64_t only where the other is too small
  std::string no_constant;  // "a text with NUL in it": why no generated code can hold it; then `value` is the body
  Location location;
  Documentation documentation;
};

using Symbol = std::variant<Macro, Alias, Enum, Record, Opaque, Callback, Function>;

struct Header {
  std::string path;                // as it was given
  std::vector<std::string> lines;  // its text, clean, for messages and the documentation of macros
  std::string sha256;              // of its bytes
  std::vector<Symbol> symbols;     // in the order of the header
  // For those who compare headers, and for nobody else: no method could read or write them on a wire.
  std::vector<Variable> variables = {};
  // Variables that not all machines declare, or not all in the same way; as the first that declares them does.
  std::vector<Variable> variables_of_machines = {};
  // Macros with a value on one machine, and another one or none elsewhere, which are no constants: `value` is nothing.
  std::vector<Macro> macros_of_machines = {};
  // What had to be read for a machine from the headers of another one: "/usr/include/…/x.h for armv7…". What is said of
  // that machine may be wrong then, so nothing is generated from it. Empty: nothing.
  std::string borrowed = {};
};

// The symbols of one kind, in the order of the header.
template <class Kind>
std::vector<const Kind*> all(const Header& header) {
  std::vector<const Kind*> found;
  for (const Symbol& symbol : header.symbols) {
    if (const auto* match = std::get_if<Kind>(&symbol)) found.push_back(match);
  }
  return found;
}

template <>
inline std::vector<const Variable*> all(const Header& header) {
  std::vector<const Variable*> found;
  for (const Variable& variable : header.variables) found.push_back(&variable);
  return found;
}

template <class Kind>
const Kind* find(const Header& header, const std::string& name) {
  for (const Kind* symbol : all<Kind>(header)) {
    if (symbol->name == name) return symbol;
  }
  return nullptr;
}

inline const std::string& name_of(const Symbol& symbol) {
  return std::visit([](const auto& any) -> const std::string& { return any.name; }, symbol);
}

}  // namespace bindgen::c
