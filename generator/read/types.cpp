#include "read/types.hpp"

#include "read/clang.hpp"
#include "read/representation.hpp"

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <utility>

namespace bindgen {
namespace {

using c::Type;
using c::TypeKind;

// As clang spells it, but for the qualifiers before it, which are told apart.
std::string unqualified_name(CXType type) {
  std::string name = clang::text(clang_getTypeSpelling(type));
  for (bool is_qualified = true; is_qualified;) {
    is_qualified = false;
    for (const std::string qualifier : {"const ", "volatile ", "restrict "}) {
      if (name.rfind(qualifier, 0) != 0) continue;
      name.erase(0, qualifier.size());
      is_qualified = true;
    }
  }
  return name;
}

std::pair<TypeKind, std::string> kind_of(CXType type) {
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
    case CXType_VariableArray:  // of a parameter, which is a pointer
    case CXType_IncompleteArray: return {TypeKind::kArray, ""};
    case CXType_FunctionProto: return {TypeKind::kFunction, ""};
    default: return {TypeKind::kOther, unqualified_name(type)};
  }
}

// What no C has, in a header that is read as C++.
std::string beyond_c(CXType type) {
  switch (type.kind) {
    case CXType_LValueReference:
    case CXType_RValueReference: return "a reference";
    case CXType_MemberPointer: return "a pointer to a member";
    case CXType_Record:
    case CXType_Enum: break;
    default: return "";
  }
  const CXCursor declared = clang_getTypeDeclaration(type);
  if (clang_EnumDecl_isScoped(declared) != 0) return "a scoped enum";
  if (clang_Cursor_isNull(clang_getSpecializedCursorTemplate(declared)) == 0) return "made of a template";
  if (clang_getCursorKind(declared) == CXCursor_ClassDecl) return "a class";
  if (clang_getCursorKind(clang_getCursorSemanticParent(declared)) == CXCursor_Namespace) return "in a namespace";
  return "";
}

Type made(TypeKind kind, std::string name, Layout size) {
  Type type;
  type.kind = kind;
  type.name = std::move(name);
  type.size = size;
  return type;
}

constexpr const char* kTagKinds[] = {"@S@", "@U@", "@E@"};  // of structs, unions and enums

bool is_identifier(const std::string& name) {
  return !name.empty() && std::all_of(name.begin(), name.end(), [](unsigned char character) {
    return std::isalnum(character) != 0 || character == '_' || character == '$' || character >= 0x80;
  });
}

}  // namespace

Layout layout_here(long long size) {
  const std::uint64_t known = size < 0 ? 0 : static_cast<std::uint64_t>(size);
  return {known, known};
}

bool has_own_call(CXType function) {
  const CXCallingConv convention = clang_getFunctionTypeCallingConv(function);
  return convention != CXCallingConv_Default && convention != CXCallingConv_C;
}

Type TypeReader::read(CXType type, Content content) const {
  Type result = read_unqualified(type, content);
  result.is_const = clang_isConstQualifiedType(type) != 0;
  result.is_volatile = clang_isVolatileQualifiedType(type) != 0;
  if (result.kind != TypeKind::kArray) return result;
  // Of an array, also of one behind a typedef, it is the elements that are const.
  Type* element = &result.target.front();
  while (element->kind == TypeKind::kArray) element = &element->target.front();
  element->is_const = element->is_const || result.is_const;
  element->is_volatile = element->is_volatile || result.is_volatile;
  return result;
}

Type TypeReader::read_unqualified(CXType type, Content content) const {
  if (type.kind == CXType_Elaborated) return read(clang_Type_getNamedType(type), content);
  if (type.kind == CXType_Typedef) {
    const CXCursor declared = clang_getTypeDeclaration(type);
    const std::string name = clang::spelling(declared);
    // Each target has a structure of its own behind this name.
    if (name == "__builtin_va_list") return made(TypeKind::kOther, "va_list", {});
    const bool is_of_array =
        content == Content::kReadOfArray && kind_of(clang_getCanonicalType(type)).first == TypeKind::kArray;
    Type result = read(clang_getTypedefDeclUnderlyingType(declared), is_of_array ? content : Content::kLeftOut);
    if (!is_another_name(type, result)) result.name = name;
    return result;
  }
  const CXType canonical = clang_getCanonicalType(type);
  if (type.kind == CXType_Unexposed || type.kind == CXType_Attributed) {  // parentheses, attributes, typeof
    if (canonical.kind != CXType_FunctionProto) return read(canonical, content);
  }
  const auto [kind, name] = kind_of(canonical.kind == CXType_FunctionProto ? canonical : type);
  Type result = made(kind, name, layout_here(clang_Type_getSizeOf(type)));
  if (kind == TypeKind::kPointer) result.target.push_back(read(clang_getPointeeType(type), content));
  if (kind == TypeKind::kArray) {
    result.target.push_back(read(clang_getArrayElementType(type), content));
    result.count = static_cast<std::uint64_t>(std::max(0LL, clang_getArraySize(type)));
  }
  if (kind == TypeKind::kFunction) {
    result.target.push_back(read(clang_getResultType(type), content));
    result.is_variadic = clang_isFunctionTypeVariadic(type) != 0;
    result.has_own_call = has_own_call(canonical);
    for (int i = 0; i < clang_getNumArgTypes(type); ++i) {
      result.params.push_back(read_passed(clang_getArgType(type, static_cast<unsigned>(i)), content));
    }
  }
  const CXCursor declared = clang_getTypeDeclaration(type);
  if (kind == TypeKind::kRecord || kind == TypeKind::kEnum) result.name = name_of(declared);
  result.beyond_c = beyond_c(type);
  if (!result.beyond_c.empty() && result.name.empty()) result.name = unqualified_name(type);
  // What has no name cannot hold itself, so this comes to an end.
  if (kind == TypeKind::kRecord && result.name.empty() && content != Content::kLeftOut)
    result.content.push_back(read_record(*this, declared, ""));
  return result;
}

Type TypeReader::read_passed(CXType type, Content content) const {
  // The array's own name is lost with it.
  Type result = read(type, content == Content::kRead ? Content::kReadOfArray : content);
  if (result.kind != TypeKind::kArray && result.kind != TypeKind::kFunction) return result;
  const Type target = result.kind == TypeKind::kArray ? result.target.front() : result;
  Type pointer = made(TypeKind::kPointer, "", layout_here(static_cast<long long>(pointer_size_)));
  pointer.target.push_back(target);
  return pointer;
}

bool TypeReader::is_in_header(CXCursor declared) const {
  CXFile file = nullptr;
  clang_getExpansionLocation(clang_getCursorLocation(declared), &file, nullptr, nullptr, nullptr);
  return clang_File_isEqual(file, main_file_) != 0;
}

bool TypeReader::is_another_name(CXType alias, const Type& of) const {
  if ((of.kind != TypeKind::kRecord && of.kind != TypeKind::kEnum) || of.name.empty()) return false;
  const CXType canonical = clang_getCanonicalType(alias);
  const CXCursor definition = clang_getCursorDefinition(clang_getTypeDeclaration(canonical));
  if (clang_Cursor_isNull(definition) != 0 || !is_in_header(definition)) return false;
  return !of.is_const && !of.is_volatile && clang_Type_getAlignOf(alias) == clang_Type_getAlignOf(canonical);
}

std::string TypeReader::tag_of(CXCursor cursor) {
  // What clang calls one without a tag differs between versions. What they all write down of it (its "USR") does not,
  // and says whether a declaration is known by a name of its own: "c:@S@point"; but "c:@SA@point" of a typedef's.
  const std::string name = clang::spelling(cursor);
  const std::string known_as = clang::text(clang_getCursorUSR(cursor));
  if (!is_identifier(name)) return "";
  const bool has_tag = std::any_of(std::begin(kTagKinds), std::end(kTagKinds),
                                   [&](const char* kind) { return known_as.ends_with(kind + name); });
  return has_tag ? name : "";
}

std::string TypeReader::name_of(CXCursor declared) {
  std::string tag = tag_of(declared);
  if (!tag.empty()) return tag;
  const std::string name = clang::text(clang_getTypeSpelling(clang_getCursorType(declared)));
  return is_identifier(name) ? name : "";  // what has no name is described, with the place
}

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
