#include "read/records.hpp"

#include "read/cursor_facts.hpp"
#include "read/declaration.hpp"

#include <cstdint>

namespace bindgen {
namespace {

using c::TypeKind;

std::uint64_t bytes(long long bits) { return bits < 0 ? 0 : static_cast<std::uint64_t>(bits) / 8; }

class RecordReader {
 public:
  explicit RecordReader(const TypeReader& types) : types_(types) {}

  // `base` is the offset, in bytes, of the record inside the outermost one.
  c::Record read(CXCursor cursor, const std::string& name, std::uint64_t base) const {
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
        record.fields.push_back(read_anonymous(type, child, base));
      } else if (kind == CXCursor_FieldDecl &&
                 (!clang::spelling(child).empty() || clang_Cursor_isBitField(child) != 0)) {
        record.fields.push_back(read_field(child, base));
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

  c::Field read_field(CXCursor cursor, std::uint64_t base) const {
    const long long bits = clang_Cursor_getOffsetOfField(cursor);
    const auto offset = base + bytes(bits);
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
    add_content(types_, type, field.type, Content::kButItself);
    const CXCursor declared = clang_getTypeDeclaration(type);
    const CXCursorKind kind = clang_getCursorKind(declared);
    const bool is_unnamed_record = field.type.kind == TypeKind::kRecord && field.type.name.empty();
    if (is_unnamed_record && (kind == CXCursor_StructDecl || kind == CXCursor_UnionDecl)) {
      field.inline_record.push_back(read(declared, "", offset));
      // The comment stands before "struct", which is where the struct begins and not the field.
      if (field.documentation.text.empty()) field.documentation = field.inline_record.front().documentation;
    }
    return field;
  }

  // An anonymous struct or union has no field of its own in the AST; where it lies follows from its first member.
  c::Field read_anonymous(CXType parent, CXCursor cursor, std::uint64_t base) const {
    std::uint64_t offset = base;
    for (const CXCursor child : clang::children(cursor)) {
      if (clang_getCursorKind(child) != CXCursor_FieldDecl) continue;
      offset += bytes(clang_Type_getOffsetOf(parent, clang::spelling(child).c_str())) -
                bytes(clang_Cursor_getOffsetOfField(child));
      break;
    }
    c::Field field{"",
                   types_.read(clang_getCursorType(cursor)),
                   {},
                   {offset, offset},
                   0,
                   {},
                   clang::location(cursor),
                   clang::documentation(cursor)};
    field.inline_record.push_back(read(cursor, "", offset));
    return field;
  }

  const TypeReader& types_;
};

}  // namespace

void add_content(const TypeReader& types, CXType declared, c::Type& type, Content content) {
  CXType base = clang_getCanonicalType(declared);
  c::Type* unnamed = &type;
  while (unnamed->name.empty() && (unnamed->kind == TypeKind::kPointer || unnamed->kind == TypeKind::kArray)) {
    base = unnamed->kind == TypeKind::kPointer ? clang_getPointeeType(base) : clang_getArrayElementType(base);
    base = clang_getCanonicalType(base);
    unnamed = &unnamed->target.front();
  }
  if (!unnamed->name.empty()) return;
  const CXCursor cursor = clang_getTypeDeclaration(base);
  if (unnamed->kind == TypeKind::kEnum) {
    for (const CXCursor child : clang::children(cursor)) {
      if (clang_getCursorKind(child) != CXCursor_EnumConstantDecl) continue;
      unnamed->content += (unnamed->content.empty() ? "enum { " : ", ") + clang::spelling(child) + " = " +
                          std::to_string(clang_getEnumConstantDeclValue(child));
    }
    unnamed->content += " }";
  }
  if (unnamed->kind == TypeKind::kRecord && (content == Content::kOfAll || unnamed != &type))
    unnamed->content = declaration(read_record(types, cursor, ""));
}

c::Record read_record(const TypeReader& types, CXCursor cursor, const std::string& name) {
  return RecordReader(types).read(cursor, name, 0);
}

}  // namespace bindgen
