#include "compare/dump.hpp"
#include "read/declaration.hpp"

namespace bindgen {
namespace {

class Tree {
 public:
  std::string of(const c::Header& header) {
    text_ = header.path + ": sizes and offsets (@) in bytes, 64-bit/32-bit\n";
    for (const c::Symbol& symbol : header.symbols) std::visit([this](const auto& any) { add(any); }, symbol);
    for (const c::Variable& variable : header.variables) add(variable);
    return std::move(text_);
  }

 private:
  void add(const c::Macro& macro) { line(0, "macro " + macro.name + " = " + macro.body); }
  void add(const c::Alias& alias) { line(0, declaration(alias) + ", size " + text(alias.type.size)); }
  void add(const c::Opaque& opaque) {
    line(0, (opaque.is_union ? "union " : "struct ") + opaque.name + ", content unknown");
  }
  void add(const c::Callback& callback) { line(0, declaration(callback)); }
  void add(const c::Variable& variable) {
    line(0, "variable " + declaration(variable) + ", size " + text(variable.type.size) + other_symbol(variable));
  }
  void add(const c::Function& function) { line(0, declaration(function) + other_symbol(function)); }

  // The name in the library, where it is another one.
  template <class Exported>
  static std::string other_symbol(const Exported& exported) {
    return exported.symbol == exported.name ? "" : ", symbol " + exported.symbol;
  }

  void add(const c::Enum& entity) {
    line(0, "enum " + (entity.name.empty() ? "(unnamed)" : entity.name) + ", size " + text(entity.underlying.size));
    for (const c::Enumerator& enumerator : entity.enumerators) {
      line(1, enumerator.name + " = " + std::to_string(enumerator.value));
    }
  }

  void add(const c::Record& record) {
    line(0, heading(record, record.name));
    add_fields(record, 1);
  }

  static std::string heading(const c::Record& record, const std::string& name) {
    return std::string(record.is_union ? "union" : "struct") + (name.empty() ? "" : " " + name) + ", size " +
           text(record.size) + ", align " + text(record.align);
  }

  void add_fields(const c::Record& record, unsigned depth) {
    for (const c::Field& field : record.fields) {
      const std::string at = "@" + text(field.offset) + " ";
      if (field.inline_record.empty()) {
        line(depth, at + declaration(field) + ", size " + text(field.type.size));
      } else {
        line(depth, at + heading(field.inline_record.front(), field.name));
        add_fields(field.inline_record.front(), depth + 1);
      }
    }
  }

  void line(unsigned depth, const std::string& words) { text_ += std::string(2 * depth, ' ') + words + "\n"; }

  std::string text_;
};

}  // namespace

std::string dump_tree(const c::Header& header) { return Tree().of(header); }

}  // namespace bindgen
