// methods.hpp: one stub per function (decode, call, encode), its description, and the ABI set that holds them all.
#include "emit/codec_call.hpp"
#include "emit/method_parts.hpp"
#include "emit/parts.hpp"
#include "emit/stream.hpp"
#include "read/declaration.hpp"

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
                includes_of(api)) {}

  BlockFile file() {
    for (const Stream& stream : api_.streams) emit_stream(writer_, api_, stream);
    for (const c::Function* function : functions_) {
      emit_stub(*function);
      emit_description(code_, api_, *function);
      writer_.finish(function->name, {function->name});
    }
    emit_tables();
    emit_set();
    return writer_.file();
  }

 private:
  static std::vector<std::string> includes_of(const Api& api) {
    std::vector<std::string> includes = {support_include(api, "abi_set"), support_include(api, "codec")};
    if (has_out_values(api)) includes.push_back(support_include(api, "out_value"));
    for (const char* name : {"stream_callback", "stub"}) includes.push_back(support_include(api, name));
    for (const char* name : {"abi", "codecs", "constants", "schemas"}) includes.push_back(set_include(api, name));
    for (const char* name : {"<cstddef>", "<memory>", "<span>", "<string_view>"}) includes.emplace_back(name);
    return includes;
  }

  static bool has_out_values(const Api& api) {
    return std::any_of(api.roles.begin(), api.roles.end(), [](const auto& path_and_role) {
      const Meaning& meaning = path_and_role.second.meaning;
      return std::holds_alternative<meaning::OutValue>(meaning) || std::holds_alternative<meaning::OutRoom>(meaning) ||
             std::holds_alternative<meaning::InOut>(meaning) || std::holds_alternative<meaning::OutChosen>(meaning);
    });
  }

  // ---- Stubs.

  void emit_stub(const c::Function& function) {
    const auto parts = parts_of(api_, function);
    const FunctionRole& role = api_.functions.at(function.name);
    if (role.needs) emit_text(code_, "kNeeded_" + function.name, role.needs->why);
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
    std::vector<Expression> arguments;
    for (const Part& part : parts) arguments.emplace_back(argument(part));
    emit_call(code_, api_, function, std::move(arguments));
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
          const c::Type& made = part.type->target.front();
          code_.line(spelling(made) + " " + part.name + (made.kind == TypeKind::kPointer ? " = nullptr;" : "{};"));
        },
        [&](const meaning::Callbacks&) { emit_callbacks(part); },
        [](const meaning::TaggedUnion&) {},  // not a parameter
        [&](const meaning::OutValue&) {
          c::Type held = part.type->target.front();
          held.is_volatile = false;
          code_.line(spelling(held) + " " + part.name + "{};");
        },
        // Later, when the parameters are known to be good:
        [](const meaning::OutArray&) {}, [](const meaning::OutRoom&) {},
        [&](const meaning::InOut&) {
          const auto& otherwise = api_.role(part.path).default_value;
          const c::Type& held = part.type->target.front();
          code_.line(spelling(held) + " " + part.name +
                     (otherwise ? " = " + constant_text(held, *otherwise) + ";" : "{};"));
        },
        [&](const meaning::OutChosen&) { code_.line("void* " + part.name + " = nullptr;"); },
        [&](const meaning::SizeOf&) { code_.line(type + " " + part.name + "{};"); },
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

  // The type of a parameter where the parameter itself is called like it, as struct archive* archive is.
  static std::string spelling_beside(const Part& part) {
    c::Type type = *part.type;
    if (type.kind == TypeKind::kPointer && type.name.empty() && type.target.front().name == part.name)
      type.target.front().name.insert(0, "struct ");
    return spelling(type);
  }

  void emit_handle(const Part& part) {
    code_.line("const auto " + part.name + " = params.handle<" + spelling_beside(part) + ">(" + literal(part.name) +
               ");");
  }

  void emit_object_local(const Part& part, const meaning::Object& object) {
    if (object.starts_from.empty()) return code_.line(variable_type(part) + " " + part.name + " = nullptr;");
    const c::Record* record = c::find<c::Record>(api_.header, part.type->target.front().name);
    code_.line(record->name + " " + part.name + " = functions." + object.starts_from + "();");
    if (has_undefined(api_, *record)) code_.line("fill_undefined(" + part.name + ");");
    const bool has_wire_defaults = any_part(
        api_, *record, record->name, [](const Part&, const Role& role) { return role.wire_default.has_value(); });
    if (has_wire_defaults) code_.line("set_wire_defaults(" + part.name + ");");
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
    const Meaning& meaning = api_.role(part.path).meaning;
    if (const auto* room = std::get_if<meaning::OutRoom>(&meaning)) {
      const c::Type& element = part.type->target.front();
      const std::string held = element.kind == TypeKind::kVoid ? "std::byte" : spelling(element);
      const std::string size = room->room.empty() ? extent_of(part, function) : room->room;
      code_.statement(
          Expression("const std::span<" + held + "> " + part.name + " = out_room<" + held + ">", {"call", size}));
    }
    const auto* out = std::get_if<meaning::OutArray>(&meaning);
    if (out == nullptr) return;
    const std::string element = spelling(part.type->target.front());
    code_.statement(Expression("const std::span<" + element + "> " + part.name + " = out_array<" + element + ">",
                               {"call", literal(function.name), constant_name(out->count.name)}));
  }

  // How many elements a parameter is declared with.
  static std::string extent_of(const Part& part, const c::Function& function) {
    for (const c::Param& param : function.params) {
      if (param.name == part.name) return std::to_string(param.extent) + "U";
    }
    return "0U";
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
        [&](const meaning::OutRoom&) { return part.name + ".data()"; },                                      //
        [&](const meaning::OutValue&) { return "&" + part.name; },                                           //
        [&](const meaning::InOut&) { return "&" + part.name; },                                              //
        [&](const meaning::OutChosen&) { return part.name; },                                                //
        [&](const meaning::SizeOf&) { return part.name; },                                                   //
        [&](const meaning::StreamUserdata&) { return std::string("call.results"); },                         //
        [&](const meaning::StreamCallback& stream) { return "&deliver_" + stream.name; },
        [](const meaning::TaggedUnion&) { return std::string("{}"); },  //
        [](const meaning::Unused&) { return std::string("{}"); },       //
        [](const meaning::Status&) { return std::string("{}"); },       //
        [](const meaning::Predicate&) { return std::string("{}"); });
  }

  // ---- The set.

  void emit_tables() {
    code_.comment("All methods, in the order of the header.");
    if (functions_.empty()) {
      code_.line("inline constexpr std::span<const Method> kMethods;");
      code_.line("inline constexpr std::span<const Stub<Functions>> kStubs;");
      return writer_.finish("");
    }
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
  }

  void emit_set() {
    if (!api_.names_elsewhere.empty()) {
      code_.comment("Functions, constants and types that only other versions have.");
      code_.line("inline constexpr Elsewhere kElsewhere[] = {");
      for (const Elsewhere& other : api_.names_elsewhere) {
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
    code_.line(std::string(".elsewhere = ") + (api_.names_elsewhere.empty() ? "{}," : "kElsewhere,"));
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
