// Whether the C compiler of this machine reads a header as the generator does: a probe states every name, type, size,
// offset, value and signature of the model, and the compiler has to agree with all of it.
#pragma once

#include "temporary.hpp"

#include "read/declaration.hpp"
#include "read/header.hpp"

#include <cstdlib>
#include <regex>
#include <set>
#include <string>

namespace bindgen::test {

inline std::string without_comments(const c::Header& header) {
  std::string text;
  for (const std::string& line : header.lines) text += line + "\n";
  for (auto begin = text.find("/*"); begin != std::string::npos; begin = text.find("/*", begin)) {
    text.erase(begin, text.find("*/", begin) + 2 - begin);
  }
  return text;
}

// C that compiles only if the compiler agrees with the model.
class Probe {
 public:
  explicit Probe(const c::Header& header, const std::string& before = "") {
    // The model is what C++ sees, which has no __STDC_VERSION__; libusb.h defines a macro by it. Nor has it "restrict".
    text_ = before +
            "#include <stdbool.h>\n#include <stddef.h>\n#include <stdint.h>\n#undef __STDC_VERSION__\n#define "
            "restrict\n#define __restrict\n#define __restrict__\n#include \"" +
            header.path + "\"\n";
    header_text_ = without_comments(header);
    // The model calls a struct by its tag alone, also those of headers that this one includes.
    for (const c::Function* function : c::all<c::Function>(header)) {
      name_tags(function->returns);
      for (const c::Param& param : function->params) name_tags(param.type);
    }
    for (const c::Callback* callback : c::all<c::Callback>(header)) {
      name_tags(callback->returns);
      for (const c::Param& param : callback->params) name_tags(param.type);
    }
    for (const c::Record* record : c::all<c::Record>(header)) {
      for (const c::Field& field : record->fields) name_tags(field.type);
    }
    for (const c::Alias* alias : c::all<c::Alias>(header)) name_tags(alias->type);
    for (const c::Symbol& symbol : header.symbols) std::visit([this](const auto& any) { name_tag(any); }, symbol);
    for (const c::Symbol& symbol : header.symbols) std::visit([this](const auto& any) { state(any); }, symbol);
  }
  const std::string& text() const { return text_; }

 private:
  template <class Kind>
  void name_tag(const Kind&) {}
  void name_tag(const c::Record& record) { name_tag(record.is_union ? "union" : "struct", record.name); }
  void name_tag(const c::Opaque& opaque) {  // which only a tag can name
    name_tag(opaque.is_union ? "union" : "struct", opaque.name, true);
  }
  void name_tag(const c::Enum& entity) {
    if (!entity.name.empty()) name_tag("enum", entity.name);
  }
  void name_tags(const c::Type& type) {
    for (const c::Type& target : type.target) name_tags(target);
    for (const c::Type& param : type.params) name_tags(param);
    if (type.name.empty() || !tags_.insert(type.name).second) return;
    if (type.kind == c::TypeKind::kRecord) {
      // What a typedef of the system stands for: __jmp_buf_tag.
      if (type.name.starts_with("__")) return name_tag("struct", type.name, true);
      name_tag("struct", type.name);
      name_tag("union", type.name);
    }
    if (type.kind == c::TypeKind::kEnum) name_tag("enum", type.name);
  }
  void name_tag(const std::string& keyword, const std::string& name, bool is_made_by_macros = false) {
    tags_.insert(name);
    // A function may have the name of a tag: then there can be no typedef of it.
    const bool is_tag =
        is_made_by_macros || std::regex_search(header_text_, std::regex(keyword + "\\s+" + name + "\\b"));
    const bool is_called = std::regex_search(header_text_, std::regex("\\b" + name + "\\s*\\(\\s*[^*^\\s]"));
    if (is_tag && !is_called) text_ += "typedef " + keyword + " " + name + " " + name + ";\n";
  }

  void state(const c::Macro& macro) {
    if (macro.name == "ZERO_SIZED_ARRAY") return;  // libusb.h: 0 in C++, which is what is read, and nothing in C
    if (const auto* value = std::get_if<std::int64_t>(&macro.value)) {
      // A large unsigned value is no negative one.
      must_hold("(long long)(" + macro.name + ") == " + std::to_string(*value) + "LL");
      must_hold(std::string(*value < 0 ? "" : "!") + "((" + macro.name + ") < 0)");
    }
    if (const auto* value = std::get_if<std::uint64_t>(&macro.value)) {
      must_hold("(" + macro.name + ") == " + std::to_string(*value) + "ULL && (" + macro.name + ") > 0");
    }
  }
  void state(const c::Alias& alias) {
    text_ += declaration(alias) + ";\n";
    if (alias.type.size.on_64_bit != 0) {
      must_hold("sizeof(" + alias.name + ") == " + std::to_string(alias.type.size.on_64_bit));
    }
  }
  void state(const c::Opaque&) {}
  void state(const c::Callback& callback) { text_ += declaration(callback) + ";\n"; }
  void state(const c::Function& function) {
    text_ += "#undef " + function.name + "\n" + declaration(function) + ";\n";  // a macro may stand before it
  }
  void state(const c::Enum& entity) {
    for (const c::Enumerator& one : entity.enumerators) {
      must_hold("(long long)(" + one.name + ") == " + std::to_string(one.value) + "LL");
    }
    if (!entity.name.empty()) {
      const bool is_tag = std::regex_search(header_text_, std::regex("enum\\s+" + entity.name + "\\b"));
      must_hold("sizeof(" + std::string(is_tag ? "enum " : "") + entity.name +
                ") == " + std::to_string(entity.underlying.size.on_64_bit));
    }
  }
  void state(const c::Record& record) {
    must_hold("sizeof(" + record.name + ") == " + std::to_string(record.size.on_64_bit));
    must_hold("_Alignof(" + record.name + ") == " + std::to_string(record.align.on_64_bit));
    state_fields(record.name, "", record);
  }

  void state_fields(const std::string& outer, const std::string& prefix, const c::Record& record) {
    for (const c::Field& field : record.fields) {
      const std::string path = prefix + field.name;
      if (!field.name.empty() && field.bit_width == 0) {  // C cannot ask where a bit-field is
        must_hold("offsetof(" + outer + ", " + path + ") == " + std::to_string(field.offset.on_64_bit));
        if (field.inline_record.empty()) state_type("((" + outer + "*)0)->" + path, field.type);
      }
      if (field.inline_record.empty()) continue;
      state_fields(outer, field.name.empty() ? prefix : path + ".", field.inline_record.front());
    }
  }

  void state_type(const std::string& expression, const c::Type& type) {
    const std::string name = "bindgen_type_" + std::to_string(types_++);
    text_ += "typedef " + declaration(type, name) + ";\n";
    must_hold("__builtin_types_compatible_p(__typeof__(" + expression + "), " + name + ")");
    if (type.size.on_64_bit != 0) must_hold("sizeof(" + name + ") == " + std::to_string(type.size.on_64_bit));
  }

  void must_hold(const std::string& claim) { text_ += "_Static_assert(" + claim + ", \"\");\n"; }

  std::set<std::string> tags_;
  std::string header_text_;
  std::string text_;
  unsigned types_ = 0;
};

// What the compiler says; empty if it agrees.
inline std::string compile(const std::string& text, const std::string& options) {
  const auto folder = test::scratch("foreign");
  const std::string probe = test::file(folder, "probe.c", text);
  const std::string complaints = (folder / "complaints").string();
  const std::string command =
      "'" COMPILER "' -x c -std=gnu11 -w -fsyntax-only " + options + " '" + probe + "' 2>'" + complaints + "'";
  const int status = std::system(command.c_str());
  const std::string said = read_text(complaints).substr(0, 4000);
  return status == 0 ? "" : "the compiler refuses:\n" + said;
}

}  // namespace bindgen::test
