#include "read/declarations.hpp"

#include "diagnostics.hpp"
#include "read/clang.hpp"
#include "read/types.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <unordered_set>
#include <utility>

namespace bindgen {
namespace {

struct HashOfCursor {
  std::size_t operator()(const CXCursor& cursor) const { return clang_hashCursor(cursor); }
};
struct EqualCursors {
  bool operator()(const CXCursor& one, const CXCursor& other) const { return clang_equalCursors(one, other) != 0; }
};

class Reader {
 public:
  Reader(CXTranslationUnit unit, const c::Header& header) : unit_(unit), header_(header), types_(unit) {
    collect_named_by_typedef(clang_getTranslationUnitCursor(unit));
  }

  Declarations read() {
    read_all(clang_getTranslationUnitCursor(unit_));
    return {std::move(symbols_), std::move(variables_)};
  }

 private:
  void read_all(CXCursor parent) {
    for (const CXCursor cursor : clang::children(parent)) {
      // extern "C" { } may come from a macro of another file, around declarations of this one.
      const CXCursorKind kind = clang_getCursorKind(cursor);
      const bool is_around_others = kind == CXCursor_LinkageSpec || kind == CXCursor_UnexposedDecl;
      if (is_around_others || types_.is_in_header(cursor)) read_one(cursor);
    }
  }

  void read_one(CXCursor cursor) {
    switch (clang_getCursorKind(cursor)) {
      case CXCursor_LinkageSpec:    // extern "C" { }, since libclang 16
      case CXCursor_UnexposedDecl:  // the same before
        return read_all(cursor);
      case CXCursor_StructDecl:
      case CXCursor_UnionDecl:
        if (const std::string tag = types_.tag_of(cursor); !tag.empty()) {
          add_record(cursor, tag, cursor);
        } else if (!is_named_by_typedef(cursor)) {
          read_inside(cursor);
        }
        return;
      case CXCursor_EnumDecl:
        if (const std::string tag = types_.tag_of(cursor); !tag.empty() || !is_named_by_typedef(cursor)) {
          add_enum(cursor, tag, cursor);
        }
        return;
      case CXCursor_TypedefDecl:
      case CXCursor_TypeAliasDecl: return read_typedef(cursor);
      case CXCursor_FunctionDecl: return read_function(cursor);
      case CXCursor_VarDecl: return read_variable(cursor);
      default: return;  // macros are read elsewhere
    }
  }

  void read_typedef(CXCursor cursor) {
    const std::string name = clang::spelling(cursor);
    const CXType underlying = clang_getTypedefDeclUnderlyingType(cursor);
    const CXCursor declared = clang_getTypeDeclaration(underlying);
    const CXCursorKind kind = clang_getCursorKind(declared);
    const bool is_tag = kind == CXCursor_StructDecl || kind == CXCursor_UnionDecl || kind == CXCursor_EnumDecl;
    if (is_tag) {
      const std::string tag = types_.tag_of(declared);
      if (tag == name) return;  // typedef struct X X;
      if (tag.empty())
        return kind == CXCursor_EnumDecl ? add_enum(declared, name, cursor) : add_record(declared, name, cursor);
    }
    // C11 and C++ let a header say the same typedef again.
    if (!known_.insert(clang::text(clang_getCursorUSR(clang_getCanonicalCursor(cursor)))).second) return;
    const CXType target = clang_getPointeeType(clang_getCanonicalType(underlying));
    if (target.kind == CXType_FunctionProto && clang_getCursorKind(declared) != CXCursor_TypedefDecl) {
      const CXType as_written = clang_getResultType(clang_getPointeeType(underlying));  // with names of typedefs
      c::Callback callback{name,
                           types_.read(as_written.kind != CXType_Invalid ? as_written : clang_getResultType(target)),
                           {},
                           clang_isFunctionTypeVariadic(target) != 0,
                           clang::location(cursor),
                           clang::documentation(cursor),
                           has_own_call(target)};
      read_params(cursor, target, callback.params);
      symbols_.emplace_back(std::move(callback));
      return;
    }
    symbols_.emplace_back(
        c::Alias{name, types_.read(underlying), clang::location(cursor), clang::documentation(cursor)});
  }

  void read_function(CXCursor cursor) {
    const bool is_own =
        clang_Cursor_getStorageClass(cursor) == CX_SC_Static ||
        clang_getCursorVisibility(cursor) == CXVisibility_Hidden ||
        (clang_Cursor_isFunctionInlined(cursor) != 0 && clang_Cursor_getStorageClass(cursor) != CX_SC_Extern &&
         clang_Cursor_isNull(clang_getCursorDefinition(cursor)) == 0);
    if (is_own) return;  // no library exports it
    const CXType type = clang_getCursorType(cursor);
    const std::string name = clang::spelling(cursor);
    const std::string symbol = symbol_of(cursor);
    // In C++ two functions may have one name. Both are kept, so that the second is complained of.
    const bool is_new = known_.insert(clang::text(clang_getCursorUSR(clang_getCanonicalCursor(cursor)))).second;
    if (!is_new) {  // declared before; but what __asm__ says later counts for all
      if (symbol != name) function_named(name).symbol = symbol;
      return;
    }
    c::Function function{name,
                         types_.read(clang_getResultType(type)),
                         {},
                         clang_isFunctionTypeVariadic(type) != 0,
                         clang::location(cursor),
                         clang::documentation(cursor),
                         symbol,
                         has_own_call(clang_getCanonicalType(type))};
    read_params(cursor, type, function.params);
    symbols_.emplace_back(std::move(function));
  }

  void read_variable(CXCursor cursor) {
    if (clang_getCursorLinkage(cursor) != CXLinkage_External) return;  // every program has one of its own
    const std::string name = clang::spelling(cursor);
    const std::string symbol = symbol_of(cursor);
    if (!known_.insert(clang::text(clang_getCursorUSR(cursor))).second) {
      if (symbol != name) variable_named(name).symbol = symbol;
      return;
    }
    variables_.push_back({name, types_.read(clang_getCursorType(cursor)), clang::location(cursor),
                          clang::documentation(cursor), symbol});
  }

  static std::string symbol_of(CXCursor declared) {
    for (const CXCursor child : clang::children(declared)) {
      if (clang_getCursorKind(child) == CXCursor_AsmLabelAttr) return clang::spelling(child);
    }
    return clang::spelling(declared);
  }

  // Those that have been added.
  c::Variable& variable_named(const std::string& name) {
    return *std::find_if(variables_.begin(), variables_.end(),
                         [&](const c::Variable& variable) { return variable.name == name; });
  }
  c::Function& function_named(const std::string& name) {
    return std::get<c::Function>(*std::find_if(symbols_.begin(), symbols_.end(), [&](const c::Symbol& symbol) {
      return std::holds_alternative<c::Function>(symbol) && c::name_of(symbol) == name;
    }));
  }

  void read_params(CXCursor owner, CXType function, std::vector<c::Param>& params) const {
    const int count = clang_getNumArgTypes(function);
    for (int i = 0; i < count; ++i) {
      params.push_back(
          {"", types_.read_passed(clang_getArgType(function, static_cast<unsigned>(i))), clang::location(owner)});
    }
    const std::vector<CXCursor> declared = declared_params(owner);
    if (declared.size() != params.size()) return;  // a callback that returns a callback: its own come first
    for (std::size_t i = 0; i < params.size(); ++i) {
      params[i].name = clang::spelling(declared[i]);
      params[i].type = types_.read_passed(clang_getCursorType(declared[i]));  // keeps names the prototype may lose
      params[i].location = clang::location(declared[i]);
      const c::Type as_written = types_.read(clang_getCursorType(declared[i]));
      params[i].is_array = as_written.kind == c::TypeKind::kArray;
      params[i].extent = as_written.count;
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
    if (!is_new_type(cursor, name)) return;
    read_inside(cursor);
    c::Record record = read_record(types_, cursor, name);
    if (const Documentation own = clang::documentation(documented); !own.text.empty()) record.documentation = own;
    symbols_.emplace_back(std::move(record));
  }

  // A named struct or enum inside another one is for C a symbol like any other, and must be known before it.
  void read_inside(CXCursor record) {
    for (const CXCursor child : clang::children(record)) {
      if (clang_isDeclaration(clang_getCursorKind(child)) != 0) read_one(child);
    }
  }

  bool is_new_type(CXCursor cursor, const std::string& name) {
    const std::string known_as = clang::text(clang_getCursorUSR(cursor));
    const auto [known, is_new] = types_read_.emplace(name.empty() ? known_as : name, known_as);
    if (known->second == known_as) return is_new;
    throw Refusal({complain(header_, clang::location(cursor), "another type is called " + name + ", too",
                            "in C++ each struct has types of its own inside; --std=c11 reads the header as C")});
  }

  // A struct that is declared here and defined nowhere.
  void add_opaque(CXCursor cursor, const std::string& name) {
    if (clang_Cursor_isNull(clang_getCursorDefinition(cursor)) == 0 || !is_new_type(cursor, name)) return;
    symbols_.emplace_back(c::Opaque{clang_getCursorKind(cursor) == CXCursor_UnionDecl, name, clang::location(cursor),
                                    clang::documentation(cursor)});
  }

  void add_enum(CXCursor cursor, const std::string& name, CXCursor documented) {
    if (clang_isCursorDefinition(cursor) == 0) return;
    // One without a name may be met twice, where two typedefs name what it stands in.
    if (!is_new_type(cursor, name)) return;
    c::Enum result{name,
                   types_.read(clang_getEnumDeclIntegerType(cursor)),
                   {},
                   clang::location(cursor),
                   clang::documentation(cursor)};
    if (const Documentation own = clang::documentation(documented); !own.text.empty()) result.documentation = own;
    unsigned end = 0;  // of the enumerator before
    for (const CXCursor child : clang::children(cursor)) {
      if (clang_getCursorKind(child) != CXCursor_EnumConstantDecl) continue;
      // clang takes the comment on one enumerator for that on each that follows without any.
      const bool is_own = clang::place(clang_getRangeStart(clang_Cursor_getCommentRange(child))) >= end;
      end = clang::place(clang_getRangeEnd(clang_getCursorExtent(child)));
      result.enumerators.push_back({clang::spelling(child), enumerator_value(child, result.underlying),
                                    clang::location(child), clang::documentation(child, is_own)});
    }
    symbols_.emplace_back(std::move(result));
  }

  // clang has the bits; which number they are, the type of the enum says.
  std::int64_t enumerator_value(CXCursor enumerator, const c::Type& underlying) const {
    const bool has_sign = underlying.kind == c::TypeKind::kSigned || underlying.kind == c::TypeKind::kCharacter;
    if (has_sign) return clang_getEnumConstantDeclValue(enumerator);
    const std::uint64_t value = clang_getEnumConstantDeclUnsignedValue(enumerator);
    if (value <= INT64_MAX) return static_cast<std::int64_t>(value);
    throw Refusal(
        {complain(header_, clang::location(enumerator),
                  "the value of " + clang::spelling(enumerator) + " is beyond " + std::to_string(INT64_MAX))});
  }

  // Once for all declarations: to look for the typedef of each would take the square of their number.
  void collect_named_by_typedef(CXCursor parent) {
    for (const CXCursor cursor : clang::children(parent)) {
      const auto kind = clang_getCursorKind(cursor);
      if (kind == CXCursor_LinkageSpec || kind == CXCursor_UnexposedDecl) collect_named_by_typedef(cursor);
      if (kind != CXCursor_TypedefDecl && kind != CXCursor_TypeAliasDecl) continue;
      named_by_typedef_.insert(clang_getTypeDeclaration(clang_getTypedefDeclUnderlyingType(cursor)));
    }
  }

  bool is_named_by_typedef(CXCursor cursor) const { return named_by_typedef_.count(cursor) != 0; }

  CXTranslationUnit unit_;
  const c::Header& header_;
  TypeReader types_;
  std::vector<c::Symbol> symbols_;
  std::vector<c::Variable> variables_;
  std::unordered_set<CXCursor, HashOfCursor, EqualCursors> named_by_typedef_;
  // What has been added, by what clang knows it as: functions, variables and typedefs; and types, by their names.
  std::set<std::string> known_;
  std::map<std::string, std::string> types_read_;
};

}  // namespace

Declarations read_declarations(const clang::Unit& unit, const c::Header& header) {
  return Reader(unit.get(), header).read();
}

namespace {

// What an array consists of in the end.
CXType element_of(CXType type) {
  CXType element = clang_getCanonicalType(type);
  while (element.kind == CXType_ConstantArray || element.kind == CXType_IncompleteArray) {
    element = clang_getCanonicalType(clang_getArrayElementType(element));
  }
  return element;
}

struct ForeignFields {
  CXFile own;
  std::vector<std::pair<Location, std::string>> found = {};
};

CXChildVisitResult note_foreign_field(CXCursor cursor, CXCursor, CXClientData data) {
  auto& fields = *static_cast<ForeignFields*>(data);
  const auto file_of = [](CXCursor any) {
    CXFile file = nullptr;
    clang_getExpansionLocation(clang_getCursorLocation(any), &file, nullptr, nullptr, nullptr);
    return file;
  };
  const bool is_own = clang_File_isEqual(file_of(cursor), fields.own) != 0;
  if (clang_getCursorKind(cursor) != CXCursor_FieldDecl) return CXChildVisit_Recurse;
  if (!is_own) return CXChildVisit_Continue;
  const CXType held = element_of(clang_getCursorType(cursor));
  if (held.kind != CXType_Record) return CXChildVisit_Recurse;
  const CXCursor declared = clang_getTypeDeclaration(held);
  if (clang_File_isEqual(file_of(declared), fields.own) == 0) {
    fields.found.emplace_back(clang::location(cursor),
                              clang::spelling(cursor) + " holds a struct of " + clang::location(declared).file);
  }
  return CXChildVisit_Recurse;
}

}  // namespace

std::vector<std::pair<Location, std::string>> fields_of_other_files(const clang::Unit& unit) {
  ForeignFields fields{clang::main_file(unit.get())};
  clang_visitChildren(clang_getTranslationUnitCursor(unit.get()), &note_foreign_field, &fields);
  return fields.found;
}

}  // namespace bindgen
