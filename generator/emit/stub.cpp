// The statements of a stub: decode the parameters, call, encode what comes back.
#include "emit/codec_call.hpp"
#include "emit/method_parts.hpp"
#include "emit/parts.hpp"
#include "emit/shared_functions.hpp"

#include <optional>
#include <utility>

namespace bindgen {
namespace {

using c::TypeKind;

class StubEmitter {
 public:
  StubEmitter(CodeText& code, const StubScope& scope)
      : code_(code), scope_(scope), api_(scope.api), types_(scope.types) {}

  // The statements.
  void emit() {
    const c::Function& function = scope_.function;
    const auto parts = parts_of(api_, function);
    const FunctionRole& role = api_.functions.at(function.name);
    code_.indent();
    code_.line("Decoder params(call, " + literal(function.name) + ");");
    for (const Part& part : parts) emit_local(part);
    for (const Part& part : parts) {
      for (const Expression& line : codec_calls(api_, part, parts, {"params", "", false, &types_}))
        code_.statement(line);
    }
    for (const Part& part : parts) emit_pairing(part);
    code_.line("params.finish(" + elsewhere_list(scope_.sets, function.name) + ");");
    if (role.needs) {
      code_.statement({"require_value",
                       {constant_name(role.needs->value.name), std::to_string(role.needs->equals), "call.handle",
                        literal(function.name), scope_.texts["kNeeded_" + function.name]}});
    }
    for (const Part& part : parts) emit_room(part, function);
    std::vector<Expression> arguments;
    for (const Part& part : parts) arguments.emplace_back(argument(part));
    emit_call(code_, scope_, std::move(arguments));
    code_.outdent();
  }

 private:
  // The C++ variable that holds an argument.
  void emit_local(const Part& part) {
    const auto type = [&] { return variable_type(part); };
    match(
        api_.role(part.path).meaning,  //
        [&](const meaning::Value&) {
          code_.line(type() + " " + part.name + initial_value(*part.type, api_.role(part.path).default_value));
        },
        [&](const meaning::Count&) { code_.line(type() + " " + part.name + "{};"); },
        [&](const meaning::CpuMask&) { code_.line(type() + " " + part.name + "{};"); },
        [&](const meaning::CpuCount&) { code_.line(type() + " " + part.name + "{};"); },
        [&](const meaning::Text&) { code_.line(type() + " " + part.name + " = nullptr;"); },
        [&](const meaning::Batch&) { code_.line(type() + " " + part.name + " = nullptr;"); },
        [&](const meaning::Array&) { code_.line(types_.declare(passed_type(part), part.name) + " = nullptr;"); },
        [&](const meaning::Object& object) { emit_object_local(part, object); },
        [&](const meaning::UsesHandle&) { emit_handle(part); },
        [&](const meaning::DestroysHandle&) { emit_handle(part); },
        [&](const meaning::CreatesHandle&) {
          const c::Type& made = part.type->target.front();
          code_.line(types_.spell(made) + " " + part.name + (made.kind == TypeKind::kPointer ? " = nullptr;" : "{};"));
        },
        [&](const meaning::Callbacks&) { emit_callbacks(part); },
        [](const meaning::TaggedUnion&) {},  // not a parameter
        [&](const meaning::OutValue&) {
          c::Type held = part.type->target.front();
          held.is_volatile = false;
          code_.line(types_.spell(held) + " " + part.name + "{};");
        },
        // Later, when the parameters are known to be good:
        [](const meaning::OutArray&) {}, [](const meaning::OutRoom&) {},
        [&](const meaning::InOut&) {
          const auto& otherwise = api_.role(part.path).default_value;
          const c::Type& held = part.type->target.front();
          code_.line(types_.spell(held) + " " + part.name + initial_value(held, otherwise));
        },
        [&](const meaning::OutChosen&) { code_.line("void* " + part.name + " = nullptr;"); },
        [&](const meaning::SizeOf&) { code_.line(type() + " " + part.name + "{};"); },
        [](const meaning::StreamCallback&) {},  //
        [](const meaning::StreamUserdata&) {},  //
        [](const meaning::Unused&) {},          //
        [](const meaning::Status&) {},          //
        [](const meaning::Predicate&) {});
  }

  // The parameter's type, but never const: it is filled in before the call.
  static c::Type passed_type(const Part& part) {
    c::Type type = *part.type;
    type.is_const = false;
    return type;
  }
  std::string variable_type(const Part& part) { return types_.spell(passed_type(part)); }

  std::string initial_value(const c::Type& type, const std::optional<Constant>& value) {
    if (!value) return "{};";
    const auto* enumerator = std::get_if<std::string>(&*value);
    return " = " + (enumerator == nullptr ? constant_text(type, *value) : types_.enumerator(type, *enumerator)) + ";";
  }

  // The type of a parameter where the parameter itself is called like it, as struct archive* archive is.
  std::string spelling_beside(const Part& part) {
    c::Type type = *part.type;
    if (scope_.sets.size() == 1 && type.kind == TypeKind::kPointer && type.name.empty() &&
        type.target.front().name == part.name)
      type.target.front().name.insert(0, "struct ");
    return types_.spell(type);
  }

  void emit_handle(const Part& part) {
    code_.line("const auto " + part.name + " = params.handle<" + spelling_beside(part) + ">(" + literal(part.name) +
               ");");
  }

  void emit_object_local(const Part& part, const meaning::Object& object) {
    if (object.starts_from.empty()) return code_.line(variable_type(part) + " " + part.name + " = nullptr;");
    const std::string& record = part.type->target.front().name;
    code_.line(types_.spell(record) + " " + part.name + " = functions." + object.starts_from + "();");
    if (any_part_in(scope_.sets, api_, record, &is_left_undefined)) code_.line("fill_undefined(" + part.name + ");");
    if (any_part_in(scope_.sets, api_, record, &has_wire_default)) code_.line("set_wire_defaults(" + part.name + ");");
  }

  void emit_callbacks(const Part& part) {
    const c::Record* record = c::find<c::Record>(api_.header, part.type->target.front().name);
    code_.line(types_.spell(record->name) + " " + part.name + "{};");
    for (const Part& field : parts_of(api_, *record, record->name)) {
      if (const auto* stream = std::get_if<meaning::StreamCallback>(&api_.role(field.path).meaning)) {
        code_.line(part.name + "." + field.name + " = &" + types_.with_abi("deliver_" + stream->name) + ";");
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
      const std::string held = element.kind == TypeKind::kVoid ? "std::byte" : types_.spell(element);
      const std::string size = room->room.empty() ? std::to_string(part.extent) + "U" : room->room;
      code_.statement(
          Expression("const std::span<" + held + "> " + part.name + " = out_room<" + held + ">", {"call", size}));
    }
    const auto* out = std::get_if<meaning::OutArray>(&meaning);
    if (out == nullptr) return;
    const std::string element = types_.spell(part.type->target.front());
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
        [&](const meaning::OutRoom&) { return part.name + ".data()"; },                                      //
        [&](const meaning::OutValue&) { return "&" + part.name; },                                           //
        [&](const meaning::InOut&) { return "&" + part.name; },                                              //
        [&](const meaning::OutChosen&) { return part.name; },                                                //
        [&](const meaning::SizeOf&) { return part.name; },                                                   //
        [&](const meaning::StreamUserdata&) { return std::string("call.results"); },                         //
        [&](const meaning::StreamCallback& stream) { return "&" + types_.with_abi("deliver_" + stream.name); },
        [](const meaning::TaggedUnion&) { return std::string("{}"); },  //
        [](const meaning::Unused&) { return std::string("{}"); },       //
        [](const meaning::Status&) { return std::string("{}"); },       //
        [](const meaning::Predicate&) { return std::string("{}"); });
  }

  CodeText& code_;
  const StubScope& scope_;
  const Api& api_;
  TypeNames& types_;
};

}  // namespace

void emit_stub_body(CodeText& code, const StubScope& scope) { StubEmitter(code, scope).emit(); }

}  // namespace bindgen
