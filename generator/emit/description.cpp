#include "emit/method_parts.hpp"
#include "emit/parts.hpp"
#include "read/declaration.hpp"

#include <utility>

namespace bindgen {
namespace {

class DescriptionEmitter {
 public:
  DescriptionEmitter(CodeText& code, const Api& api) : code_(code), api_(api) {}

  void emit(const c::Function& function) {
    const FunctionRole& role = api_.functions.at(function.name);
    const std::vector<std::string> params = wire_params(api_, function);
    emit_text(code_, "kDescription_" + function.name, documentation_of(api_, function));
    if (!params.empty()) {
      std::vector<Expression> names;
      for (const std::string& param : params) names.emplace_back(literal(param));
      code_.statement({"inline constexpr std::string_view kParams_" + function.name + "[] = ", std::move(names), '{'});
    }
    code_.line("inline constexpr Method kMethod_" + function.name + "{");
    code_.indent();
    code_.indent();
    const auto member = [this](const std::string& name, const std::string& value) {
      code_.line("." + name + " = " + value + ",");
    };
    member("name", literal(function.name));
    member("title", literal(title_of(api_, function)));
    member("description", "kDescription_" + function.name);
    emit_declaration(function);
    member("params", params.empty() ? "{}" : "kParams_" + function.name);
    emit_handle_role(function, member);
    if (stream_of(api_, function) != nullptr) member("streams", "true");
    if (role.streams_by_default) member("streams_by_default", "true");
    if (role.immediate) member("immediate", "true");
    if (role.aborts) member("aborts", "true");
    emit_annotations(role, member);
    member("input_schema", "kInput_" + function.name);
    member("output_schema", "kOutput_" + function.name);
    if (!role.is_listed) member("listed", "false");
    member("tool_input_schema", "kToolInput_" + function.name);
    member("tool_output_schema", "kToolOutput_" + function.name);
    code_.outdent();
    code_.outdent();
    code_.line("};");
  }

 private:
  void emit_declaration(const c::Function& function) {
    const std::string text = declaration(function);
    const std::string flat = ".declaration = " + literal(text) + ",";
    if (flat.size() + 4 <= kColumns) return code_.line(flat);
    code_.line(".declaration =");
    const auto lines = literal_lines(text, 8);
    for (std::size_t i = 0; i < lines.size(); ++i) code_.line("    " + lines[i] + (i + 1 == lines.size() ? "," : ""));
  }

  template <class Member>
  void emit_handle_role(const c::Function& function, const Member& member) {
    const c::Param* uses = param_with<meaning::UsesHandle>(api_, function);
    const c::Param* destroys = param_with<meaning::DestroysHandle>(api_, function);
    member("handle_param", uses != nullptr       ? literal(uses->name)
                           : destroys != nullptr ? literal(destroys->name)
                                                 : "{}");
    if (makes_handle(api_, function)) member("handle", "HandleRole::kCreates");
    if (uses != nullptr) member("handle", "HandleRole::kUses");
    if (destroys != nullptr) member("handle", "HandleRole::kDestroys");
  }

  template <class Member>
  void emit_annotations(const FunctionRole& role, const Member& member) {
    std::string list;
    const auto add = [&](const std::string& name, bool value) {
      if (value) list += (list.empty() ? "." : ", .") + name + " = true";
    };
    add("read_only", role.read_only);
    add("destructive", role.destructive);
    add("idempotent", role.idempotent);
    if (!list.empty()) member("annotations", "{" + list + "}");
  }

  CodeText& code_;
  const Api& api_;
};

}  // namespace

void emit_description(CodeText& code, const Api& api, const c::Function& function) {
  DescriptionEmitter(code, api).emit(function);
}

void emit_text(CodeText& code, const std::string& name, const std::string& text) {
  const std::string whole = literal(text);
  const bool fits = ("inline constexpr std::string_view " + name + " = ;").size() + whole.size() <= kColumns;
  code.string_constant(name, fits ? std::vector{whole} : literal_lines(text, 4));
}

}  // namespace bindgen
