// abi.hpp: the C types, declared anew so that no vendor header is needed, each followed by assertions on every size and
// offset; and the table of functions that a loaded library fills.
#include "emit/parts.hpp"
#include "read/declaration.hpp"

#include <algorithm>
#include <cstdint>
#include <set>
#include <utility>

namespace bindgen {
namespace {

class AbiEmitter {
 public:
  explicit AbiEmitter(const Api& api)
      : api_(api),
        header_{home_of(api),
                "abi",
                "The C interface, version " + api.version + ": types, layouts, and the table of functions.",
                {support_include(api, "bound_library"), support_include(api, "layout"), "<cstddef>", "<cstdint>"}} {}

  HeaderFile file() {
    for (const c::Symbol& symbol : api_.header.symbols) std::visit([this](const auto& any) { emit(any); }, symbol);
    emit_table();
    return std::move(header_);
  }

 private:
  void emit(const c::Macro&) {}     // constants.hpp
  void emit(const c::Function&) {}  // in the table

  template <class Callable>
  static std::vector<Expression> params_of(const Callable& callable) {
    std::vector<Expression> params;
    for (const c::Param& param : callable.params) params.emplace_back(declaration(param));
    if (callable.is_variadic) params.emplace_back("...");
    return params;
  }

  // C names a struct before it is declared; C++ wants to hear first that it is one.
  void announce(const c::Type& type) {
    if (type.name.empty()) {
      for (const c::Type& target : type.target) announce(target);
      for (const c::Type& param : type.params) announce(param);
      return;
    }
    if (is_repeatable(type)) return repeat(type);
    const auto* record = c::find<c::Record>(api_.header, type.name);
    const auto* opaque = c::find<c::Opaque>(api_.header, type.name);
    if ((record == nullptr && opaque == nullptr) || !declared_.insert(type.name).second) return;
    const bool is_union = record != nullptr ? record->is_union : opaque->is_union;
    code_.line((is_union ? "union " : "struct ") + type.name + ";");
    header_.end_section();
  }

  // What only an included header declares, by what there is to it.
  void repeat(const c::Type& type) {
    const auto is_it = [&](const c::Symbol& symbol) { return c::name_of(symbol) == type.name; };
    const auto& symbols = api_.header.symbols;
    if (is_known_everywhere(type.name) || std::any_of(symbols.begin(), symbols.end(), is_it)) return;
    if (!declared_.insert(type.name).second) return;
    code_.comment("From a header that this one includes.");
    code_.line("using " + type.name + " = " + meaning_of(type) + ";");
    header_.end_section();
  }

  static std::string meaning_of(const c::Type& type) {
    if (type.kind == c::TypeKind::kBool) return "bool";
    if (type.kind == c::TypeKind::kCharacter) return "char";
    if (type.kind == c::TypeKind::kFloat) return "float";
    if (type.kind == c::TypeKind::kDouble) return "double";
    const bool has_one_size = type.size.on_64_bit == type.size.on_32_bit;
    return std::string("std::") + (type.kind == c::TypeKind::kUnsigned ? "uint" : "int") +
           (has_one_size ? std::to_string(type.size.on_64_bit * 8) : "ptr") + "_t";
  }

  void announce(const c::Callback& callback) {
    announce(callback.returns);
    for (const c::Param& param : callback.params) announce(param.type);
  }
  void announce(const c::Record& record) {
    declared_.insert(record.name);
    for (const c::Field& field : record.fields) {
      if (field.inline_record.empty()) announce(field.type);
      for (const c::Record& inner : field.inline_record) announce(inner);
    }
  }

  void emit(const c::Alias& alias) {
    announce(alias.type);
    code_.comment(alias.documentation.text);
    code_.line("using " + alias.name + " = " + spelling(alias.type) + ";");
    header_.end_section();
  }

  void emit(const c::Opaque& opaque) {
    declared_.insert(opaque.name);
    code_.comment(opaque.documentation.text);
    code_.line((opaque.is_union ? "union " : "struct ") + opaque.name + ";");
    header_.end_section();
  }

  void emit(const c::Enum& entity) {
    code_.comment(entity.documentation.text);
    code_.line("enum " + (entity.name.empty() ? "" : entity.name + " ") + ": " + spelling(entity.underlying) + " {");
    code_.indent();
    for (const c::Enumerator& enumerator : entity.enumerators) {
      code_.comment(enumerator.documentation.text);
      code_.line(enumerator.name + " = " + integer_text(enumerator.value) + ",");
    }
    code_.outdent();
    code_.line("};");
    header_.end_section();
  }

  void emit(const c::Callback& callback) {
    announce(callback);
    emit_documentation(code_, callback.documentation);
    if (wraps_its_name(callback.returns)) {
      code_.line(declaration(callback) + ";");
    } else {
      code_.statement({"using " + callback.name + " = " + spelling(callback.returns) + " (*)", params_of(callback)});
    }
    header_.end_section();
  }

  void emit(const c::Record& record) {
    announce(record);
    code_.comment(record.documentation.text);
    code_.line((record.is_union ? "union " : "struct ") + record.name + " {");
    emit_fields(record);
    code_.line("};");
    code_.line("static_assert(sizeof(" + record.name + ") == " + layout_text(record.size) + ");");
    code_.line("static_assert(alignof(" + record.name + ") == " + layout_text(record.align) + ");");
    assert_offsets(record, record.name, "");
    name_inline_records(record, record.name, record.name);
    header_.end_section();
  }

  void emit_fields(const c::Record& record) {
    code_.indent();
    for (const c::Field& field : record.fields) {
      code_.comment(field.documentation.text);
      has_bit_fields_ = has_bit_fields_ || (field.bit_width != 0 && !field.name.empty());
      if (field.inline_record.empty()) {
        code_.line(declaration(field) + ";");
        continue;
      }
      code_.line(field.inline_record.front().is_union ? "union {" : "struct {");
      emit_fields(field.inline_record.front());
      code_.line(field.name.empty() ? "};" : "} " + field.name + ";");
    }
    code_.outdent();
  }

  void assert_offsets(const c::Record& record, const std::string& outermost, const std::string& prefix) {
    for (const c::Field& field : record.fields) {
      if (!field.name.empty() && field.bit_width == 0) {
        code_.line("static_assert(offsetof(" + outermost + ", " + prefix + field.name +
                   ") == " + layout_text(field.offset) + ");");
      }
      if (field.inline_record.empty()) continue;
      assert_offsets(field.inline_record.front(), outermost, field.name.empty() ? prefix : prefix + field.name + ".");
    }
  }

  // Looks at what the bit-fields of a record do.
  void require_bits(const c::Record& record, const std::string& outermost, const std::string& prefix) {
    for (const c::Field& field : record.fields) {
      if (field.bit_width != 0 && !field.name.empty()) {
        const std::string path = prefix + field.name;
        const Layout first{field.offset.on_64_bit * 8 + field.first_bit.on_64_bit,
                           field.offset.on_32_bit * 8 + field.first_bit.on_32_bit};
        code_.statement({"require_bits<" + outermost + ">",
                         {literal(outermost + "." + path), layout_text(first), std::to_string(field.bit_width),
                          "[](" + outermost + "& value) { value." + path + " = " + all_bits(field) + "; }"}});
      }
      for (const c::Record& inner : field.inline_record) {
        require_bits(inner, outermost, field.name.empty() ? prefix : prefix + field.name + ".");
      }
    }
  }

  // The value of a bit-field that has all of its bits set.
  std::string all_bits(const c::Field& field) const {
    std::string ones = std::to_string(~std::uint64_t{0} >> (64 - field.bit_width)) + "U";
    if (field.type.kind == c::TypeKind::kBool) return "true";
    if (field.type.kind == c::TypeKind::kSigned) return "-1";
    if (field.type.kind != c::TypeKind::kEnum) return ones;
    const auto* entity = c::find<c::Enum>(api_.header, field.type.name);
    const bool is_signed = entity != nullptr && entity->underlying.kind == c::TypeKind::kSigned;
    return "static_cast<" + field.type.name + ">(" + (is_signed ? "-1" : ones) + ")";
  }

  // Structs that are declared in place get a name, for codecs to overload on.
  void name_inline_records(const c::Record& record, const std::string& owner, const std::string& path) {
    for (const c::Field& field : record.fields) {
      if (field.inline_record.empty()) continue;
      const std::string own_path = path_of(path, field);
      const bool is_named = !field.name.empty() && !field.inline_record.front().is_union;
      const std::string name = cpp_name_of(field.type, own_path);
      if (is_named) code_.line("using " + name + " = decltype(" + owner + "::" + field.name + ");");
      const std::string unnamed = field.name.empty() ? owner : "decltype(" + owner + "::" + field.name + ")";
      name_inline_records(field.inline_record.front(), is_named ? name : unnamed, field.name.empty() ? path : own_path);
    }
  }

  void emit_table() {
    for (const c::Function* function : c::all<c::Function>(api_.header)) {
      announce(function->returns);
      for (const c::Param& param : function->params) announce(param.type);
    }
    code_.comment("The functions of a loaded library.");
    code_.line("struct Functions {");
    code_.indent();
    const auto functions = c::all<c::Function>(api_.header);
    for (const c::Function* function : functions) {
      const std::string pointer = "(*" + function->name + ")";
      if (wraps_its_name(function->returns)) {
        c::Function as_pointer = *function;
        as_pointer.name = pointer;
        code_.line(declaration(as_pointer) + ";");
      } else {
        code_.statement({spelling(function->returns) + " " + pointer, params_of(*function)});
      }
    }
    code_.outdent();
    code_.line("};");
    header_.end_section();
    code_.comment("Finds each of them. Throws RpcError naming the first that is missing.");
    if (has_bit_fields_) {
      header_.includes.push_back(support_include(api_, "bit_fields"));
      code_.line("//");
      code_.comment("First looks whether bit-fields lie where the header has them, which no assertion can ask.");
    }
    code_.line("inline Functions find_functions(const SymbolLookup& lookup) {");
    code_.indent();
    for (const c::Record* record : c::all<c::Record>(api_.header)) require_bits(*record, record->name, "");
    code_.line("Functions functions{};");
    for (const c::Function* function : functions) {
      code_.statement({"find_symbol", {"lookup", literal(function->name), "functions." + function->name}});
    }
    code_.line("return functions;");
    code_.outdent();
    code_.line("}");
    header_.end_section();
  }

  const Api& api_;
  HeaderFile header_;
  CodeText& code_ = header_.code;
  std::set<std::string> declared_;  // structs and unions, so far
  bool has_bit_fields_ = false;
};

}  // namespace

HeaderFile emit_abi(const Api& api) { return AbiEmitter(api).file(); }

}  // namespace bindgen
