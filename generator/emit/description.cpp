#include "emit/method_parts.hpp"
#include "emit/parts.hpp"

#include <utility>

namespace bindgen {
namespace {

class DescriptionEmitter {
 public:
  DescriptionEmitter(CodeText& code, const Api& api, const SharedTexts& texts)
      : code_(code), api_(api), texts_(texts) {}

  void emit(const c::Function& function, const std::string& suffix) {
    const FunctionRole& role = api_.functions.at(function.name);
    const auto member = [this](const std::string& name, const std::string& value) {
      code_.line("." + name + " = " + value + ",");
    };
    member("name", literal(function.name));
    member("title", literal(title_of(api_, function)));
    member("description", texts_["kDescription_" + function.name]);
    member("declaration", texts_["kDeclaration_" + function.name]);
    member("params", wire_params(api_, function).empty() ? "{}" : "kParams_" + function.name + suffix);
    emit_handle_role(function, member);
    if (stream_of(api_, function) != nullptr) member("streams", "true");
    if (role.streams_by_default) member("streams_by_default", "true");
    if (role.immediate) member("immediate", "true");
    if (role.aborts) member("aborts", "true");
    emit_annotations(role, member);
    member("input_schema", texts_["kInput_" + function.name]);
    member("output_schema", texts_["kOutput_" + function.name]);
    if (!role.is_listed) member("listed", "false");
    member("tool_input_schema", texts_["kToolInput_" + function.name]);
    member("tool_output_schema", texts_["kToolOutput_" + function.name]);
  }

 private:
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
  const SharedTexts& texts_;
};

}  // namespace

void emit_description(CodeText& code, const Api& api, const c::Function& function, const SharedTexts& texts,
                      const std::string& suffix) {
  DescriptionEmitter(code, api, texts).emit(function, suffix);
}

void emit_param_names(CodeText& code, const Api& api, const c::Function& function, const std::string& suffix) {
  std::vector<Expression> names;
  for (const std::string& param : wire_params(api, function)) names.emplace_back(literal(param));
  if (names.empty()) return;
  code.statement({"inline constexpr std::string_view kParams_" + function.name + suffix + "[] = ", names, '{'});
}

void emit_text(CodeText& code, const std::string& name, const std::string& text) {
  const std::string whole = literal(text);
  const bool fits = ("inline constexpr std::string_view " + name + " = ;").size() + whole.size() <= kColumns;
  code.string_constant(name, fits ? std::vector{whole} : literal_lines(text, 4));
}

}  // namespace bindgen
