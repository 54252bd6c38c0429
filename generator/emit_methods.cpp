// methods.hpp: one stub per function (decode, call, encode), its description, and the ABI set that holds them all.
#include "codec_call.hpp"
#include "declaration.hpp"
#include "emit_parts.hpp"
#include "emit_stream.hpp"

#include <algorithm>
#include <optional>
#include <utility>

namespace bindgen {
namespace {

using c::TypeKind;

class MethodEmitter {
 public:
  explicit MethodEmitter(const Api& api)
      : api_(api),
        functions_(methods_of(api)),
        writer_("methods", "Every function as a method: decode the parameters, call, encode what comes back.",
                {support_include(api, "abi_set"), support_include(api, "stream_callback"), support_include(api, "stub"),
                 set_include(api, "abi"), set_include(api, "codecs"), set_include(api, "constants"),
                 set_include(api, "schemas"), "<cstddef>", "<memory>", "<span>", "<string_view>"}) {}

  BlockFile file() {
    for (const Stream& stream : api_.streams) emit_stream(writer_, api_, stream);
    for (const c::Function* function : functions_) {
      emit_stub(*function);
      emit_description(*function);
      writer_.finish(function->name, {function->name});
    }
    emit_set();
    return writer_.file();
  }

 private:
  // ---- Stubs.

  void emit_stub(const c::Function& function) {
    const auto parts = parts_of(api_, function);
    const FunctionRole& role = api_.functions.at(function.name);
    if (role.needs) emit_text("kNeeded_" + function.name, role.needs->why);
    emit_documentation(code_, function.documentation);
    code_.line("template <class Functions>");
    code_.line("Json " + function.name + "(const Functions& functions, CallContext& call) {");
    code_.indent();
    code_.line("Decoder params(call, " + literal(function.name) + ");");
    for (const Part& part : parts) emit_local(part);
    for (const Part& part : parts) {
      for (const Expression& line : codec_calls(api_, part, parts, "params", "")) code_.statement(line);
    }
    for (const Part& part : parts) emit_pairing(part);
    code_.line("params.finish(" + elsewhere_list(api_, function.name) + ");");
    if (role.needs) {
      code_.statement({"require_session",
                       {constant_name(role.needs->session.name), std::to_string(role.needs->equals), "call.handle",
                        literal(function.name), "kNeeded_" + function.name}});
    }
    for (const Part& part : parts) emit_room(part, function);
    emit_call(function, parts, role);
    code_.outdent();
    code_.line("}");
  }

  // The C++ variable that holds an argument.
  void emit_local(const Part& part) {
    const std::string type = variable_type(part);
    match(
        api_.role(part.path).meaning,  //
        [&](const meaning::Value&) { code_.line(type + " " + part.name + initial_value(part)); },
        [&](const meaning::Count&) { code_.line(type + " " + part.name + "{};"); },
        [&](const meaning::CpuMask&) { code_.line(type + " " + part.name + "{};"); },
        [&](const meaning::CpuCount&) { code_.line(type + " " + part.name + "{};"); },
        [&](const meaning::Text&) { code_.line(type + " " + part.name + " = nullptr;"); },
        [&](const meaning::Batch&) { code_.line(type + " " + part.name + " = nullptr;"); },
        [&](const meaning::Array&) { code_.line(type + " " + part.name + " = nullptr;"); },
        [&](const meaning::Object& object) { emit_object_local(part, object); },
        [&](const meaning::UsesHandle&) { emit_handle(part); },
        [&](const meaning::DestroysHandle&) { emit_handle(part); },
        [&](const meaning::CreatesHandle&) {
          code_.line(spelling(part.type->target.front()) + " " + part.name + " = nullptr;");
        },
        [&](const meaning::Callbacks&) { emit_callbacks(part); },
        [](const meaning::TaggedUnion&) {},     // not a parameter
        [](const meaning::OutArray&) {},        // later, when the parameters are known to be good
        [](const meaning::StreamCallback&) {},  //
        [](const meaning::StreamUserdata&) {},  //
        [](const meaning::Unused&) {},          //
        [](const meaning::Status&) {},          //
        [](const meaning::Predicate&) {});
  }

  // Of the parameter's type, but never const: it is filled in before the call.
  static std::string variable_type(const Part& part) {
    c::Type type = *part.type;
    type.is_const = false;
    return spelling(type);
  }

  std::string initial_value(const Part& part) const {
    const auto& value = api_.role(part.path).default_value;
    return value ? " = " + constant_text(*part.type, *value) + ";" : "{};";
  }

  void emit_handle(const Part& part) {
    code_.line("const auto " + part.name + " = params.handle<" + spelling(*part.type) + ">(" + literal(part.name) +
               ");");
  }

  void emit_object_local(const Part& part, const meaning::Object& object) {
    if (object.starts_from.empty()) return code_.line(variable_type(part) + " " + part.name + " = nullptr;");
    const c::Record* record = c::find<c::Record>(api_.header, part.type->target.front().name);
    code_.line(record->name + " " + part.name + " = functions." + object.starts_from + "();");
    if (has_undefined(*record)) code_.line("fill_undefined(" + part.name + ");");
    const bool has_wire_defaults = any_part(
        api_, *record, record->name, [](const Part&, const Role& role) { return role.wire_default.has_value(); });
    if (has_wire_defaults) code_.line("set_wire_defaults(" + part.name + ");");
  }

  bool has_undefined(const c::Record& record) const {
    return any_part(api_, record, record.name, [](const Part&, const Role& role) {
      return std::holds_alternative<meaning::CpuMask>(role.meaning);
    });
  }

  void emit_callbacks(const Part& part) {
    const c::Record* record = c::find<c::Record>(api_.header, part.type->target.front().name);
    code_.line(record->name + " " + part.name + "{};");
    for (const Part& field : parts_of(api_, *record, record->name)) {
      if (const auto* stream = std::get_if<meaning::StreamCallback>(&api_.role(field.path).meaning)) {
        code_.line(part.name + "." + field.name + " = &deliver_" + stream->name + ";");
      }
    }
  }

  void emit_pairing(const Part& part) {
    const auto* array = std::get_if<meaning::Array>(&api_.role(part.path).meaning);
    if (array == nullptr || array->together_with.empty()) return;
    code_.statement(Expression("params.together", {literal(part.name), literal(array->together_with)}));
  }

  void emit_room(const Part& part, const c::Function& function) {
    const auto* out = std::get_if<meaning::OutArray>(&api_.role(part.path).meaning);
    if (out == nullptr) return;
    const std::string element = spelling(part.type->target.front());
    code_.statement(Expression("const std::span<" + element + "> " + part.name + " = out_array<" + element + ">",
                               {"call", literal(function.name), constant_name(out->count.name)}));
  }

  std::string argument(const Part& part) const {
    return match(
        api_.role(part.path).meaning,                                                                        //
        [&](const meaning::Value&) { return part.name; },                                                    //
        [&](const meaning::Count&) { return part.name; },                                                    //
        [&](const meaning::CpuMask&) { return part.name; },                                                  //
        [&](const meaning::CpuCount&) { return part.name; },                                                 //
        [&](const meaning::Text&) { return part.name; },                                                     //
        [&](const meaning::Batch&) { return part.name; },                                                    //
        [&](const meaning::Array&) { return part.name; },                                                    //
        [&](const meaning::Object& object) { return (object.starts_from.empty() ? "" : "&") + part.name; },  //
        [&](const meaning::UsesHandle&) { return part.name; },                                               //
        [&](const meaning::DestroysHandle&) { return part.name; },                                           //
        [&](const meaning::CreatesHandle&) { return "&" + part.name; },                                      //
        [&](const meaning::Callbacks&) { return "&" + part.name; },                                          //
        [&](const meaning::OutArray&) { return part.name + ".data()"; },                                     //
        [&](const meaning::StreamUserdata&) { return std::string("call.results"); },                         //
        [&](const meaning::StreamCallback& stream) { return "&deliver_" + stream.name; },
        [](const meaning::TaggedUnion&) { return std::string("{}"); },  //
        [](const meaning::Unused&) { return std::string("{}"); },       //
        [](const meaning::Status&) { return std::string("{}"); },       //
        [](const meaning::Predicate&) { return std::string("{}"); });
  }

  // The call, and what becomes of its result.
  void emit_call(const c::Function& function, const std::vector<Part>& parts, const FunctionRole& role) {
    std::vector<Expression> arguments;
    for (const Part& part : parts) arguments.emplace_back(argument(part));
    const Expression call("functions." + function.name, std::move(arguments));
    const Meaning& returns = api_.role(function.name + ".return").meaning;
    const std::string name = literal(function.name);
    if (const auto* predicate = std::get_if<meaning::Predicate>(&returns)) {
      return code_.statement(
          {"return reply_to_predicate",
           {name, call, literal(predicate->name), std::to_string(predicate->yes), std::to_string(predicate->no)}});
    }
    if (function.returns.kind == TypeKind::kRecord) return emit_returned_record(function, call);
    if (std::holds_alternative<meaning::Value>(returns)) {
      return code_.statement({"return Json", {Expression("", {literal("value"), call}, '{')}, '{'});
    }
    if (std::holds_alternative<meaning::CreatesHandle>(returns)) return emit_returned_handle(name, call);
    if (const auto* text = std::get_if<meaning::Text>(&returns)) return emit_returned_text(function, call, *text);
    const std::vector<std::string> afterwards = steps_after(function, parts, role);
    if (std::holds_alternative<meaning::Status>(returns)) {
      if (afterwards.empty()) return code_.statement({"return reply_to_status", {name, call}});
      if (!role.running_probe.empty()) code_.line("const int idle = " + probe_call(function, role) + ";");
      code_.statement({"Json reply = reply_to_status", {name, call}});
    } else {
      code_.statement(call);
      if (afterwards.empty()) return code_.line("return Json::object();");
      code_.line("Json reply = Json::object();");
    }
    for (const std::string& step : afterwards) code_.line(step);
    code_.line("return reply;");
  }

  void emit_returned_record(const c::Function& function, const Expression& call) {
    const c::Record* record = c::find<c::Record>(api_.header, function.returns.name);
    code_.statement({function.returns.name + " result = " + call.head, call.arguments});
    if (has_undefined(*record)) code_.line("fill_undefined(result);");
    code_.line("return encode(result, {call.encoding, call.handle});");
  }

  void emit_returned_handle(const std::string& name, const Expression& call) {
    code_.line("Json reply = Json::object();");
    code_.statement({"adopt_handle", {"call", name, call, literal("handle"), "reply"}});
    code_.line("return reply;");
  }

  void emit_returned_text(const c::Function& function, const Expression& call, const meaning::Text& text) {
    code_.line("const Encoding encoding{call.encoding, call.handle};");
    code_.line("Encoder reply(encoding);");
    code_.statement({spelling(function.returns) + " const value = " + call.head, call.arguments});
    code_.line("reply.text(" + literal("value") + ", value);");
    if (!text.freed_by.empty()) code_.line("functions." + text.freed_by + "(value);");
    code_.line("return reply.finish();");
  }

  // Asks whether a run goes on. What it answers before the run began tells what it answers when it has ended: versions
  // differ in which number means which.
  std::string probe_call(const c::Function& function, const FunctionRole& role) const {
    return "functions." + role.running_probe + "(" + param_with<meaning::UsesHandle>(api_, function)->name + ")";
  }

  // What is done when the function has succeeded.
  std::vector<std::string> steps_after(const c::Function& function, const std::vector<Part>& parts,
                                       const FunctionRole& role) const {
    std::vector<std::string> steps;
    const std::string name = literal(function.name);
    for (const Part& part : parts) {
      const Meaning& meaning = api_.role(part.path).meaning;
      if (std::holds_alternative<meaning::CreatesHandle>(meaning)) {
        steps.push_back("adopt_handle(call, " + name + ", " + part.name + ", " + literal(part.name) + ", reply);");
        for (const Part& other : parts) add_remember(other, steps);
      }
      if (std::holds_alternative<meaning::DestroysHandle>(meaning))
        steps.emplace_back("call.handle->native = nullptr;");
      if (std::holds_alternative<meaning::OutArray>(meaning)) {
        const bool are_floats = part.type->target.front().kind == TypeKind::kFloat;
        steps.push_back("reply[" + literal(part.name) +
                        "] = " + (are_floats ? "floats_to_json(" + part.name + ", call.encoding)" : part.name) + ";");
      }
    }
    if (!role.running_probe.empty()) {
      steps.push_back("await_end(call, " + name + ", [&] { return " + probe_call(function, role) + " != idle; });");
    }
    return steps;
  }

  void add_remember(const Part& part, std::vector<std::string>& steps) const {
    const auto* object = std::get_if<meaning::Object>(&api_.role(part.path).meaning);
    if (object == nullptr) return;
    const c::Record* record = c::find<c::Record>(api_.header, part.type->target.front().name);
    const bool remembers = any_part(api_, *record, record->name,
                                    [](const Part&, const Role& role) { return !role.remembered_as.empty(); });
    const std::string value = (object->starts_from.empty() ? "*" : "") + part.name;
    if (remembers) steps.push_back("remember(" + value + ", *call.handle);");
  }

  // ---- Descriptions.

  void emit_text(const std::string& name, const std::string& text) {
    const std::string whole = literal(text);
    const bool fits = ("inline constexpr std::string_view " + name + " = ;").size() + whole.size() <= kColumns;
    code_.string_constant(name, fits ? std::vector{whole} : literal_lines(text, 4));
  }

  void emit_description(const c::Function& function) {
    const FunctionRole& role = api_.functions.at(function.name);
    const std::vector<std::string> params = wire_params(api_, function);
    emit_text("kDescription_" + function.name, documentation_of(api_, function));
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
    code_.outdent();
    code_.outdent();
    code_.line("};");
  }

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

  // ---- The set.

  void emit_set() {
    code_.comment("All methods, in the order of the header.");
    code_.line("inline constexpr Method kMethods[] = {");
    for (const c::Function* function : functions_) {
      code_.line("    " + qualifier(function->name) + "kMethod_" + function->name + ",");
    }
    code_.line("};");
    code_.line("inline constexpr Stub<Functions> kStubs[] = {");
    for (const c::Function* function : functions_) {
      code_.line("    {" + literal(function->name) + ", &" + qualifier(function->name) + function->name +
                 "<Functions>},");
    }
    code_.line("};");
    writer_.finish("");
    if (!api_.functions_elsewhere.empty()) {
      code_.comment("Functions that only other versions have.");
      code_.line("inline constexpr Elsewhere kElsewhere[] = {");
      for (const Elsewhere& other : api_.functions_elsewhere) {
        code_.line("    {" + literal(other.name) + ", " + literal(other.versions) + "},");
      }
      code_.line("};");
      writer_.finish("");
    }
    code_.comment("Finds the functions in a loaded library. Throws RpcError naming the first that is missing.");
    code_.line("inline std::unique_ptr<Binding> bind(const SymbolLookup& lookup) {");
    code_.line("  return std::make_unique<BoundLibrary<Functions>>(find_functions(lookup), kStubs);");
    code_.line("}");
    std::vector<Expression> versions;
    for (const std::string& version : api_.stands_for) versions.emplace_back(literal(version));
    code_.statement({"inline constexpr std::string_view kStandsFor[] = ", std::move(versions), '{'});
    code_.line("inline const AbiSet kAbiSet{");
    code_.indent();
    code_.indent();
    code_.line(".version = " + literal(api_.version) + ",");
    code_.line(".stands_for = kStandsFor,");
    code_.line(".methods = kMethods,");
    code_.line(".facts = kFacts,");
    code_.line(std::string(".elsewhere = ") + (api_.functions_elsewhere.empty() ? "{}," : "kElsewhere,"));
    code_.line(".bind = &bind,");
    code_.outdent();
    code_.outdent();
    code_.line("};");
    writer_.finish("");
  }

  const Api& api_;
  std::vector<const c::Function*> functions_;
  BlockWriter writer_;
  CodeText& code_ = writer_.code;
};

}  // namespace

BlockFile emit_methods(const Api& api) { return MethodEmitter(api).file(); }

}  // namespace bindgen
