// C types, structs and unions among them, as they are for the target that a unit was parsed for.
//
// Libclang's names of unnamed structs differ between versions and contain paths, so only tags and the names of typedefs
// are taken from it.
#pragma once

#include "read/c_facts.hpp"
#include "read/clang.hpp"

#include <string>

namespace bindgen {

// Of something of this many bytes: this target's value on both sides. Negative: it has no size, as void has none.
Layout layout_here(long long size);

// Whether an attribute has a function of this type called in another way than C calls functions on this target.
bool has_own_call(CXType function);

// Borrows the unit.
class TypeReader {
 public:
  explicit TypeReader(CXTranslationUnit unit)
      : main_file_(clang::main_file(unit)), pointer_size_(clang::pointer_size(unit)) {}

  // Whether it is declared in the header itself, also if a macro spells the declaration:
  // clang_Location_isFromMainFile() denies that.
  bool is_in_header(CXCursor declared) const;
  c::Type read(CXType type) const { return read(type, Content::kRead); }
  // As a parameter: C passes an array or a function as a pointer to it.
  c::Type read_passed(CXType type) const { return read_passed(type, Content::kRead); }
  // The name behind struct, union or enum; "" if there is none.
  static std::string tag_of(CXCursor cursor);

 private:
  // Whether a struct without a name is read with its fields.
  enum class Content {
    kRead,         // unless a typedef leads to it, which has them already
    kReadOfArray,  // also where typedefs lead to an array of it
    kLeftOut
  };
  c::Type read(CXType type, Content content) const;
  c::Type read_passed(CXType type, Content content) const;
  c::Type read_unqualified(CXType type, Content content) const;
  // The tag, else the typedef that the declaration stands in: of typedef struct { } S, *PS; it is S.
  static std::string name_of(CXCursor declared);

  // Whether a typedef is only another name for a struct or enum that the header defines.
  bool is_another_name(CXType alias, const c::Type& of) const;

  CXFile main_file_;
  unsigned pointer_size_;  // in bytes
};

// Structs and unions with their fields, and where each lies for the target that a unit was parsed for. The record that
// is defined at `cursor`, under this name, with those that are declared in it without a name.
c::Record read_record(const TypeReader& types, CXCursor cursor, const std::string& name);

}  // namespace bindgen
