#include "read/records.hpp"

#include "read/clang.hpp"
#include "read/representation.hpp"

#include <cstdint>
#include <utility>

namespace bindgen {
namespace {

std::uint64_t bytes(long long bits) { return bits < 0 ? 0 : static_cast<std::uint64_t>(bits) / 8; }

class RecordReader {
 public:
  explicit RecordReader(const TypeReader& types) : types_(types) {}

  c::Record read(CXCursor cursor, const std::string& name) const {
    const CXType type = clang_getCursorType(cursor);
    c::Record record{clang_getCursorKind(cursor) == CXCursor_UnionDecl,
                     name,
                     {},
                     layout_here(clang_Type_getSizeOf(type)),
                     layout_here(clang_Type_getAlignOf(type)),
                     clang::location(cursor),
                     clang::documentation(cursor)};
    for (const CXCursor child : clang::children(cursor)) {
      const CXCursorKind kind = clang_getCursorKind(child);
      if (const std::string found = beyond_c(child); !found.empty()) record.beyond_c = found;
      const bool is_record = kind == CXCursor_StructDecl || kind == CXCursor_UnionDecl;
      if (is_record && clang_Cursor_isAnonymousRecordDecl(child) != 0) {
        record.fields.push_back(read_anonymous(type, child));
      } else if (kind == CXCursor_FieldDecl &&
                 (!clang::spelling(child).empty() || clang_Cursor_isBitField(child) != 0)) {
        record.fields.push_back(read_field(child));
      }
    }
    return record;
  }

 private:
  // What changes how a struct lies in memory or how it is passed. Other functions of it do neither.
  static std::string beyond_c(CXCursor member) {
    switch (clang_getCursorKind(member)) {
      case CXCursor_CXXBaseSpecifier: return "a base class";
      case CXCursor_Constructor: {
        const bool copies =
            clang_CXXConstructor_isCopyConstructor(member) != 0 || clang_CXXConstructor_isMoveConstructor(member) != 0;
        return copies ? "a copy constructor" : "";
      }
      case CXCursor_Destructor: return clang_CXXMethod_isVirtual(member) != 0 ? "virtual functions" : "a destructor";
      case CXCursor_CXXMethod: return clang_CXXMethod_isVirtual(member) != 0 ? "virtual functions" : "";
      default: return "";
    }
  }

  c::Field read_field(CXCursor cursor) const {
    const long long bits = clang_Cursor_getOffsetOfField(cursor);
    const auto offset = bytes(bits);
    const auto first_bit = static_cast<std::uint64_t>(bits < 0 ? 0 : bits % 8);
    const auto width = clang_Cursor_isBitField(cursor) != 0 ? clang_getFieldDeclBitWidth(cursor) : 0;
    const CXType type = clang_getCursorType(cursor);
    c::Field field{clang::spelling(cursor),
                   types_.read(type),
                   {},
                   {offset, offset},
                   static_cast<unsigned>(width),
                   {first_bit, first_bit},
                   clang::location(cursor),
                   clang::documentation(cursor)};
    hold_in_place(field);
    // The comment stands before "struct", which is where the struct begins and not the field.
    if (field.documentation.text.empty() && !field.inline_record.empty())
      field.documentation = field.inline_record.front().documentation;
    return field;
  }

  // An anonymous struct or union has no field of its own in the AST; where it lies follows from a member,
  // which both structs know by its name.
  c::Field read_anonymous(CXType parent, CXCursor cursor) const {
    const std::string first = first_named_field(cursor);
    const std::uint64_t offset = first.empty()
                                     ? 0
                                     : bytes(clang_Type_getOffsetOf(parent, first.c_str())) -
                                           bytes(clang_Type_getOffsetOf(clang_getCursorType(cursor), first.c_str()));
    c::Field field{"",
                   types_.read(clang_getCursorType(cursor)),
                   {},
                   {offset, offset},
                   0,
                   {},
                   clang::location(cursor),
                   clang::documentation(cursor)};
    hold_in_place(field);
    return field;
  }

  // Also one inside of anonymous structs and unions in it.
  static std::string first_named_field(CXCursor record) {
    for (const CXCursor child : clang::children(record)) {
      std::string name;
      if (clang_getCursorKind(child) == CXCursor_FieldDecl) name = clang::spelling(child);
      if (clang_Cursor_isAnonymousRecordDecl(child) != 0) name = first_named_field(child);
      if (!name.empty()) return name;
    }
    return {};
  }

  // A struct or union without a name is the field's own, and lies where the field does.
  static void hold_in_place(c::Field& field) {
    field.inline_record = std::exchange(field.type.content, {});
    for (c::Record& record : field.inline_record) move_by(record, field.offset);
  }

  const TypeReader& types_;
};

}  // namespace

c::Record read_record(const TypeReader& types, CXCursor cursor, const std::string& name) {
  return RecordReader(types).read(cursor, name);
}

}  // namespace bindgen
