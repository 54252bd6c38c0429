#include "read_declarations.hpp"

#include "documentation.hpp"

#include <algorithm>
#include <set>
#include <string>
#include <utility>

namespace bindgen {
namespace {

using c::Type;
using c::TypeKind;

// Libclang's names of unnamed structs differ between versions and contain paths, so names are taken from the tokens of
// the declaration and from typedefs only.
class Reader {
 public:
  explicit Reader(CXTranslationUnit unit) : unit_(unit) {}

  std::vector<c::Symbol> read() {
    read_all(clang_getTranslationUnitCursor(unit_));
    return std::move(symbols_);
  }

 private:
  void read_all(CXCursor parent) {
    for (const CXCursor cursor : clang::children(parent)) {
      const CXSourceLocation at = clang_getCursorLocation(cursor);
      if (clang_Location_isFromMainFile(at) != 0) read_one(cursor);
    }
  }

  void read_one(CXCursor cursor) {
    switch (clang_getCursorKind(cursor)) {
      case CXCursor_LinkageSpec:    // extern "C" { }, since libclang 16
      case CXCursor_UnexposedDecl:  // the same before
        return read_all(cursor);
      case CXCursor_StructDecl:
      case CXCursor_UnionDecl:
        if (const std::string tag = tag_of(cursor); !tag.empty()) add_record(cursor, tag, cursor);
        return;
      case CXCursor_EnumDecl:
        if (const std::string tag = tag_of(cursor); !tag.empty() || !is_named_by_typedef(cursor)) {
          add_enum(cursor, tag, cursor);
        }
        return;
      case CXCursor_TypedefDecl: return read_typedef(cursor);
      case CXCursor_FunctionDecl: return read_function(cursor);
      default: return;  // macros are read elsewhere; variables have no place on a wire
    }
  }

  void read_typedef(CXCursor cursor) {
    const std::string name = clang::spelling(cursor);
    const CXType underlying = clang_getTypedefDeclUnderlyingType(cursor);
    const CXCursor declared = clang_getTypeDeclaration(underlying);
    const CXCursorKind kind = clang_getCursorKind(declared);
    const bool is_tag = kind == CXCursor_StructDecl || kind == CXCursor_UnionDecl || kind == CXCursor_EnumDecl;
    if (is_tag) {
      const std::string tag = tag_of(declared);
      if (tag == name) return;  // typedef struct X X;
      if (tag.empty())
        return kind == CXCursor_EnumDecl ? add_enum(declared, name, cursor) : add_record(declared, name, cursor);
    }
    const CXType target = clang_getPointeeType(clang_getCanonicalType(underlying));
    if (target.kind == CXType_FunctionProto && clang_getCursorKind(declared) != CXCursor_TypedefDecl) {
      c::Callback callback{name, read_type(clang_getResultType(target)), {}, location(cursor), documentation(cursor)};
      read_params(cursor, target, callback.params);
      symbols_.emplace_back(std::move(callback));
      return;
    }
    symbols_.emplace_back(
        c::Alias{name, read_type(clang_getCursorType(cursor)), location(cursor), documentation(cursor)});
  }

  void read_function(CXCursor cursor) {
    const CXType type = clang_getCursorType(cursor);
    c::Function function{
        clang::spelling(cursor), read_type(clang_getResultType(type)), {}, location(cursor), documentation(cursor)};
    read_params(cursor, type, function.params);
    symbols_.emplace_back(std::move(function));
  }

  void read_params(CXCursor owner, CXType function, std::vector<c::Param>& params) const {
    const int count = clang_getNumArgTypes(function);
    for (int i = 0; i < count; ++i) {
      params.push_back({"", read_type(clang_getArgType(function, static_cast<unsigned>(i))), location(owner)});
    }
    std::size_t next = 0;
    for (const CXCursor child : clang::children(owner)) {
      if (clang_getCursorKind(child) != CXCursor_ParmDecl || next == params.size()) continue;
      params[next].name = clang::spelling(child);
      params[next].type = read_type(clang_getCursorType(child));  // keeps typedef names that the prototype may lose
      params[next].location = location(child);
      ++next;
    }
  }

  void add_record(CXCursor cursor, const std::string& name, CXCursor documented) {
    if (clang_isCursorDefinition(cursor) == 0) return;
    if (!known_.insert(name).second) return;
    c::Record record = read_record(cursor, name, 0);
    if (const Documentation own = documentation(documented); !own.text.empty()) record.documentation = own;
    symbols_.emplace_back(std::move(record));
  }

  void add_enum(CXCursor cursor, const std::string& name, CXCursor documented) {
    if (clang_isCursorDefinition(cursor) == 0) return;
    if (!name.empty() && !known_.insert(name).second) return;
    c::Enum result{name, read_type(clang_getEnumDeclIntegerType(cursor)), {}, location(cursor), documentation(cursor)};
    if (const Documentation own = documentation(documented); !own.text.empty()) result.documentation = own;
    for (const CXCursor child : clang::children(cursor)) {
      if (clang_getCursorKind(child) != CXCursor_EnumConstantDecl) continue;
      result.enumerators.push_back(
          {clang::spelling(child), clang_getEnumConstantDeclValue(child), location(child), documentation(child)});
    }
    symbols_.emplace_back(std::move(result));
  }

  // `base` is the offset, in bytes, of the record inside the outermost one.
  c::Record read_record(CXCursor cursor, const std::string& name, std::uint64_t base) const {
    const CXType type = clang_getCursorType(cursor);
    c::Record record{clang_getCursorKind(cursor) == CXCursor_UnionDecl,
                     name,
                     {},
                     layout(clang_Type_getSizeOf(type)),
                     layout(clang_Type_getAlignOf(type)),
                     location(cursor),
                     documentation(cursor)};
    for (const CXCursor child : clang::children(cursor)) {
      const CXCursorKind kind = clang_getCursorKind(child);
      const bool is_record = kind == CXCursor_StructDecl || kind == CXCursor_UnionDecl;
      if (is_record && clang_Cursor_isAnonymousRecordDecl(child) != 0) {
        record.fields.push_back(read_anonymous(type, child, base));
      } else if (kind == CXCursor_FieldDecl && !clang::spelling(child).empty()) {
        record.fields.push_back(read_field(child, base));
      }
    }
    return record;
  }

  c::Field read_field(CXCursor cursor, std::uint64_t base) const {
    const auto offset = base + bytes(clang_Cursor_getOffsetOfField(cursor));
    const CXType type = clang_getCursorType(cursor);
    c::Field field{
        clang::spelling(cursor), read_type(type),      {}, {offset, offset}, clang_Cursor_isBitField(cursor) != 0,
        location(cursor),        documentation(cursor)};
    const CXCursor declared = clang_getTypeDeclaration(type);
    const CXCursorKind kind = clang_getCursorKind(declared);
    const bool is_unnamed_record = field.type.kind == TypeKind::kRecord && field.type.name.empty();
    if (is_unnamed_record && (kind == CXCursor_StructDecl || kind == CXCursor_UnionDecl)) {
      field.inline_record.push_back(read_record(declared, "", offset));
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
                   read_type(clang_getCursorType(cursor)),
                   {},
                   {offset, offset},
                   false,
                   location(cursor),
                   documentation(cursor)};
    field.inline_record.push_back(read_record(cursor, "", offset));
    return field;
  }

  Type read_type(CXType type) const {
    const bool is_const = clang_isConstQualifiedType(type) != 0;
    Type result = read_unqualified(type);
    result.is_const = is_const;
    return result;
  }

  Type read_unqualified(CXType type) const {
    if (type.kind == CXType_Elaborated) return read_type(clang_Type_getNamedType(type));
    if (type.kind == CXType_Typedef) {
      const CXCursor declared = clang_getTypeDeclaration(type);
      Type result = read_type(clang_getTypedefDeclUnderlyingType(declared));
      result.name = clang::spelling(declared);
      return result;
    }
    const auto [kind, name] = kind_of(type);
    Type result{kind, name, false, layout(clang_Type_getSizeOf(type)), {}, 0};
    if (kind == TypeKind::kPointer) result.target.push_back(read_type(clang_getPointeeType(type)));
    if (kind == TypeKind::kArray) {
      result.target.push_back(read_type(clang_getArrayElementType(type)));
      result.count = static_cast<std::uint64_t>(clang_getArraySize(type));
    }
    if (kind == TypeKind::kRecord || kind == TypeKind::kEnum) result.name = tag_of(clang_getTypeDeclaration(type));
    return result;
  }

  static std::pair<TypeKind, std::string> kind_of(CXType type) {
    switch (type.kind) {
      case CXType_Void: return {TypeKind::kVoid, ""};
      case CXType_Bool: return {TypeKind::kBool, "bool"};
      case CXType_Char_S:
      case CXType_Char_U: return {TypeKind::kCharacter, "char"};
      case CXType_SChar: return {TypeKind::kSigned, "signed char"};
      case CXType_Short: return {TypeKind::kSigned, "short"};
      case CXType_Int: return {TypeKind::kSigned, "int"};
      case CXType_Long: return {TypeKind::kSigned, "long"};
      case CXType_LongLong: return {TypeKind::kSigned, "long long"};
      case CXType_UChar: return {TypeKind::kUnsigned, "unsigned char"};
      case CXType_UShort: return {TypeKind::kUnsigned, "unsigned short"};
      case CXType_UInt: return {TypeKind::kUnsigned, "unsigned int"};
      case CXType_ULong: return {TypeKind::kUnsigned, "unsigned long"};
      case CXType_ULongLong: return {TypeKind::kUnsigned, "unsigned long long"};
      case CXType_Float: return {TypeKind::kFloat, "float"};
      case CXType_Double: return {TypeKind::kDouble, "double"};
      case CXType_Record: return {TypeKind::kRecord, ""};
      case CXType_Enum: return {TypeKind::kEnum, ""};
      case CXType_Pointer: return {TypeKind::kPointer, ""};
      case CXType_ConstantArray: return {TypeKind::kArray, ""};
      case CXType_FunctionProto: return {TypeKind::kFunction, ""};
      default: return {TypeKind::kOther, "(a type with no wire form)"};
    }
  }

  // The name behind struct, union or enum; "" if there is none.
  std::string tag_of(CXCursor cursor) const {
    CXToken* tokens = nullptr;
    unsigned count = 0;
    clang_tokenize(unit_, clang_getCursorExtent(cursor), &tokens, &count);
    std::string tag;
    int depth = 0;
    for (unsigned i = 1; i < count; ++i) {
      const std::string token = clang::text(clang_getTokenSpelling(unit_, tokens[i]));
      if (token == "(") ++depth;
      if (token == ")") --depth;
      if (depth > 0 || token == ")" || token == "__attribute__" || token == "alignas") continue;
      if (clang_getTokenKind(tokens[i]) == CXToken_Identifier) tag = token;
      break;
    }
    clang_disposeTokens(unit_, tokens, count);
    return tag;
  }

  bool is_named_by_typedef(CXCursor cursor) const {
    const auto siblings = clang::children(clang_getCursorSemanticParent(cursor));
    const auto names_it = [&](CXCursor other) {
      return clang_getCursorKind(other) == CXCursor_TypedefDecl &&
             clang_equalCursors(clang_getTypeDeclaration(clang_getTypedefDeclUnderlyingType(other)), cursor) != 0;
    };
    std::vector<CXCursor> all = siblings;
    for (const CXCursor sibling : siblings) {
      const auto kind = clang_getCursorKind(sibling);
      if (kind != CXCursor_LinkageSpec && kind != CXCursor_UnexposedDecl) continue;
      const auto inner = clang::children(sibling);
      all.insert(all.end(), inner.begin(), inner.end());
    }
    return std::any_of(all.begin(), all.end(), names_it);
  }

  static Location location(CXCursor cursor) {
    CXFile file = nullptr;
    Location at;
    clang_getFileLocation(clang_getCursorLocation(cursor), &file, &at.line, &at.column, nullptr);
    at.file = clang::text(clang_getFileName(file));
    return at;
  }

  static Documentation documentation(CXCursor cursor) {
    return parse_comment(clang::text(clang_Cursor_getRawCommentText(cursor)));
  }

  static std::uint64_t bytes(long long bits) { return bits < 0 ? 0 : static_cast<std::uint64_t>(bits) / 8; }

  // Negative for types that have no size, such as void.
  static Layout layout(long long size) {
    const std::uint64_t known = size < 0 ? 0 : static_cast<std::uint64_t>(size);
    return {known, known};
  }

  CXTranslationUnit unit_;
  std::vector<c::Symbol> symbols_;
  std::set<std::string> known_;  // records and enums that have been added
};

}  // namespace

std::vector<c::Symbol> read_declarations(const clang::Unit& unit) { return Reader(unit.get()).read(); }

}  // namespace bindgen
