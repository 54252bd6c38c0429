#include "read_declarations.hpp"

#include "documentation.hpp"

#include <algorithm>
#include <set>
#include <string>
#include <unordered_set>
#include <utility>

namespace bindgen {
namespace {

using c::Type;
using c::TypeKind;

struct HashOfCursor {
  std::size_t operator()(const CXCursor& cursor) const { return clang_hashCursor(cursor); }
};
struct EqualCursors {
  bool operator()(const CXCursor& one, const CXCursor& other) const { return clang_equalCursors(one, other) != 0; }
};

// Libclang's names of unnamed structs differ between versions and contain paths, so names are taken from the tokens of
// the declaration and from typedefs only.
class Reader {
 public:
  explicit Reader(CXTranslationUnit unit)
      : unit_(unit), main_file_(clang::main_file(unit)), pointer_size_(clang::pointer_size(unit)) {
    collect_named_by_typedef(clang_getTranslationUnitCursor(unit));
  }

  std::vector<c::Symbol> read() {
    read_all(clang_getTranslationUnitCursor(unit_));
    return std::move(symbols_);
  }

 private:
  void read_all(CXCursor parent) {
    for (const CXCursor cursor : clang::children(parent)) {
      // extern "C" { } may come from a macro of another file, around declarations of this one.
      const CXCursorKind kind = clang_getCursorKind(cursor);
      const bool is_around_others = kind == CXCursor_LinkageSpec || kind == CXCursor_UnexposedDecl;
      if (is_around_others || is_in_header(cursor)) read_one(cursor);
    }
  }

  // Also if a macro spells the declaration: clang_Location_isFromMainFile() denies that.
  bool is_in_header(CXCursor cursor) const {
    CXFile file = nullptr;
    clang_getExpansionLocation(clang_getCursorLocation(cursor), &file, nullptr, nullptr, nullptr);
    return clang_File_isEqual(file, main_file_) != 0;
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
      c::Callback callback{name,
                           read_type(clang_getResultType(target)),
                           {},
                           clang_isFunctionTypeVariadic(target) != 0,
                           location(cursor),
                           documentation(cursor)};
      read_params(cursor, target, callback.params);
      symbols_.emplace_back(std::move(callback));
      return;
    }
    symbols_.emplace_back(c::Alias{name, read_type(underlying), location(cursor), documentation(cursor)});
  }

  void read_function(CXCursor cursor) {
    if (clang_Cursor_getStorageClass(cursor) == CX_SC_Static) return;  // no library exports it
    const CXType type = clang_getCursorType(cursor);
    if (!known_.insert(clang::spelling(cursor) + "()").second) return;  // declared before
    c::Function function{clang::spelling(cursor),
                         read_type(clang_getResultType(type)),
                         {},
                         clang_isFunctionTypeVariadic(type) != 0,
                         location(cursor),
                         documentation(cursor)};
    read_params(cursor, type, function.params);
    symbols_.emplace_back(std::move(function));
  }

  void read_params(CXCursor owner, CXType function, std::vector<c::Param>& params) const {
    const int count = clang_getNumArgTypes(function);
    for (int i = 0; i < count; ++i) {
      params.push_back(
          {"", as_passed(read_type(clang_getArgType(function, static_cast<unsigned>(i)))), location(owner)});
    }
    const std::vector<CXCursor> declared = declared_params(owner);
    if (declared.size() != params.size()) return;  // a callback that returns a callback: its own come first
    for (std::size_t i = 0; i < params.size(); ++i) {
      params[i].name = clang::spelling(declared[i]);
      params[i].type = as_passed(read_type(clang_getCursorType(declared[i])));  // keeps names the prototype may lose
      params[i].location = location(declared[i]);
    }
  }

  static std::vector<CXCursor> declared_params(CXCursor owner) {
    std::vector<CXCursor> params;
    if (clang_getCursorKind(owner) == CXCursor_FunctionDecl) {
      for (int i = 0; i < clang_Cursor_getNumArguments(owner); ++i) {
        params.push_back(clang_Cursor_getArgument(owner, static_cast<unsigned>(i)));
      }
      return params;
    }
    for (const CXCursor child : clang::children(owner)) {
      if (clang_getCursorKind(child) == CXCursor_ParmDecl) params.push_back(child);
    }
    return params;
  }

  void add_record(CXCursor cursor, const std::string& name, CXCursor documented) {
    if (clang_isCursorDefinition(cursor) == 0) return add_opaque(cursor, name);
    if (!known_.insert(name).second) return;
    // A named struct or enum inside another one is for C a symbol like any other, and must be known before it.
    for (const CXCursor child : clang::children(cursor)) {
      if (clang_isDeclaration(clang_getCursorKind(child)) != 0) read_one(child);
    }
    c::Record record = read_record(cursor, name, 0);
    if (const Documentation own = documentation(documented); !own.text.empty()) record.documentation = own;
    symbols_.emplace_back(std::move(record));
  }

  // A struct that is declared here and defined nowhere.
  void add_opaque(CXCursor cursor, const std::string& name) {
    if (clang_Cursor_isNull(clang_getCursorDefinition(cursor)) == 0 || !known_.insert(name).second) return;
    symbols_.emplace_back(
        c::Opaque{clang_getCursorKind(cursor) == CXCursor_UnionDecl, name, location(cursor), documentation(cursor)});
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
    const long long bits = clang_Cursor_getOffsetOfField(cursor);
    const auto offset = base + bytes(bits);
    const auto first_bit = static_cast<std::uint64_t>(bits < 0 ? 0 : bits % 8);
    const auto width = clang_Cursor_isBitField(cursor) != 0 ? clang_getFieldDeclBitWidth(cursor) : 0;
    const CXType type = clang_getCursorType(cursor);
    c::Field field{clang::spelling(cursor),
                   read_type(type),
                   {},
                   {offset, offset},
                   static_cast<unsigned>(width),
                   {first_bit, first_bit},
                   location(cursor),
                   documentation(cursor)};
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
                   0,
                   {},
                   location(cursor),
                   documentation(cursor)};
    field.inline_record.push_back(read_record(cursor, "", offset));
    return field;
  }

  Type read_type(CXType type) const {
    Type result = read_unqualified(type);
    result.is_const = clang_isConstQualifiedType(type) != 0;
    result.is_volatile = clang_isVolatileQualifiedType(type) != 0;
    return result;
  }

  Type read_unqualified(CXType type) const {
    if (type.kind == CXType_Elaborated) return read_type(clang_Type_getNamedType(type));
    if (type.kind == CXType_Typedef) {
      const CXCursor declared = clang_getTypeDeclaration(type);
      const std::string name = clang::spelling(declared);
      // Each target has a structure of its own behind this name.
      if (name == "__builtin_va_list") return {TypeKind::kOther, "va_list"};
      Type result = read_type(clang_getTypedefDeclUnderlyingType(declared));
      result.name = name;
      return result;
    }
    const CXType canonical = clang_getCanonicalType(type);
    if (type.kind == CXType_Unexposed || type.kind == CXType_Attributed) {  // parentheses, attributes, typeof
      if (canonical.kind != CXType_FunctionProto) return read_type(canonical);
    }
    const auto [kind, name] = kind_of(canonical.kind == CXType_FunctionProto ? canonical : type);
    Type result{kind, name, false, false, layout(clang_Type_getSizeOf(type))};
    if (kind == TypeKind::kPointer) result.target.push_back(read_type(clang_getPointeeType(type)));
    if (kind == TypeKind::kArray) {
      result.target.push_back(read_type(clang_getArrayElementType(type)));
      result.count = static_cast<std::uint64_t>(std::max(0LL, clang_getArraySize(type)));
    }
    if (kind == TypeKind::kFunction) {
      result.target.push_back(read_type(clang_getResultType(type)));
      result.is_variadic = clang_isFunctionTypeVariadic(type) != 0;
      for (int i = 0; i < clang_getNumArgTypes(type); ++i) {
        result.params.push_back(as_passed(read_type(clang_getArgType(type, static_cast<unsigned>(i)))));
      }
    }
    if (kind == TypeKind::kRecord || kind == TypeKind::kEnum) result.name = tag_of(clang_getTypeDeclaration(type));
    return result;
  }

  // What C makes of a parameter: an array or a function is passed as a pointer to it.
  Type as_passed(Type type) const {
    if (type.kind != TypeKind::kArray && type.kind != TypeKind::kFunction) return type;
    const Type target = type.kind == TypeKind::kArray ? type.target.front() : type;
    return {TypeKind::kPointer, "", false, false, layout(static_cast<long long>(pointer_size_)), {target}};
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
      case CXType_ConstantArray:
      case CXType_IncompleteArray: return {TypeKind::kArray, ""};
      case CXType_FunctionProto: return {TypeKind::kFunction, ""};
      default: return {TypeKind::kOther, clang::text(clang_getTypeSpelling(type))};
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

  // Once for all declarations: to look for the typedef of each would take the square of their number.
  void collect_named_by_typedef(CXCursor parent) {
    for (const CXCursor cursor : clang::children(parent)) {
      const auto kind = clang_getCursorKind(cursor);
      if (kind == CXCursor_LinkageSpec || kind == CXCursor_UnexposedDecl) collect_named_by_typedef(cursor);
      if (kind != CXCursor_TypedefDecl) continue;
      named_by_typedef_.insert(clang_getTypeDeclaration(clang_getTypedefDeclUnderlyingType(cursor)));
    }
  }

  bool is_named_by_typedef(CXCursor cursor) const { return named_by_typedef_.count(cursor) != 0; }

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
  CXFile main_file_;
  std::uint64_t pointer_size_;  // in bytes
  std::vector<c::Symbol> symbols_;
  std::unordered_set<CXCursor, HashOfCursor, EqualCursors> named_by_typedef_;
  std::set<std::string> known_;  // records and enums that have been added
};

}  // namespace

std::vector<c::Symbol> read_declarations(const clang::Unit& unit) { return Reader(unit.get()).read(); }

}  // namespace bindgen
