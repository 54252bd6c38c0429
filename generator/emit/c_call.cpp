#include "emit/method_parts.hpp"
#include "emit/parts.hpp"
#include "emit/shared_functions.hpp"

#include <algorithm>
#include <utility>

namespace bindgen {
namespace {

class CallEmitter {
 public:
  CallEmitter(CodeText& code, const StubScope& scope)
      : code_(code),
        sets_(scope.sets),
        api_(scope.api),
        function_(scope.function),
        types_(scope.types),
        role_(api_.functions.at(function_.name)),
        parts_(parts_of(api_, function_)),
        name_(literal(function_.name)) {}

  void emit(const Expression& call) {
    if (!role_.running_probe.empty()) {
      code_.comment("What " + role_.running_probe +
                    " answers before the run: versions differ in which number means that nothing runs. The run has "
                    "ended when it answers so again.");
      code_.line("const int idle = " + probe_call() + ";");
    }
    match(
        api_.role(function_.name + ".return").meaning,  //
        [&](const meaning::Status&) {
          const bool is_enum = function_.returns.kind == c::TypeKind::kEnum;
          reply({"reply_to_status", {name_, is_enum ? Expression{"static_cast<int>", {call}} : call}});
        },
        [&](const meaning::Predicate& predicate) {
          reply({"reply_to_predicate",
                 {name_, call, literal(predicate.name), std::to_string(predicate.yes), std::to_string(predicate.no)}});
        },
        [&](const meaning::Value&) { emit_value(call); },
        [&](const meaning::Text& text) { emit_text_result(call, text); },
        [&](const meaning::CreatesHandle&) { emit_handle(call); },
        [&](const meaning::Object& object) { emit_object_result(call, object); },
        [&](const auto&) {  // nothing of it is told
          code_.statement(call);
          reply({"Json::object", {}});
        });
  }

 private:
  // Answers with `reply`; first does what is left to do.
  void reply(Expression reply) {
    std::vector<std::string> steps = at_once();
    const auto others = steps_after();
    steps.insert(steps.end(), others.begin(), others.end());
    reply.head = (steps.empty() ? "return " : "Json reply = ") + reply.head;
    code_.statement(reply);
    finish(steps);
  }
  void finish(const std::vector<std::string>& steps) {
    for (const std::string& step : steps) code_.line(step);
    if (!steps.empty()) code_.line("return reply;");
  }

  void emit_value(const Expression& call) {
    if (function_.returns.kind == c::TypeKind::kEnum) return emit_enumerator(call);
    if (function_.returns.kind != c::TypeKind::kRecord) {
      const bool is_character = function_.returns.kind == c::TypeKind::kCharacter;
      const Expression value = is_floating(function_.returns) ? Expression("number_to_json", {call})
                               : is_character                 ? Expression("static_cast<unsigned char>", {call})
                                                              : call;
      if (!tells_filled()) return reply({"Json", {Expression("", {literal("value"), value}, '{')}, '{'});
      code_.statement({"const auto result = " + call.head, call.arguments});
      emit_at_once();
      return reply({"Json", {Expression("", {literal("value"), "result"}, '{')}, '{'});
    }
    const std::string& type = function_.returns.name;
    code_.statement({"auto result = " + call.head, call.arguments});
    emit_at_once();
    if (any_part_in(sets_, api_, type, &is_left_undefined)) code_.line("fill_undefined(result);");
    reply({"encode", {"result", "{call.encoding, call.handle}"}});
  }

  void emit_handle(const Expression& call) {
    code_.line("Json reply = Json::object();");
    // No handle: the function has failed, and has left nothing.
    const bool is_pointer = function_.returns.kind == c::TypeKind::kPointer;
    const auto lines = at_once(std::string(kReturned) + (is_pointer ? " != nullptr" : " != 0"));
    if (!lines.empty()) code_.statement({std::string("const auto ") + kReturned + " = " + call.head, call.arguments});
    for (const std::string& line : lines) code_.line(line);
    const Expression handle = lines.empty() ? call : Expression(kReturned);
    code_.statement({"adopt_handle", {"call", name_, handle, literal("handle"), "reply"}});
    std::vector<std::string> steps;
    for (const Part& part : parts_) add_remember(part, steps);
    const auto others = steps_after();
    steps.insert(steps.end(), others.begin(), others.end());
    for (const std::string& step : steps) code_.line(step);
    code_.line("return reply;");
  }

  // By name; by its number if the header has no name for it.
  void emit_enumerator(const Expression& call) {
    code_.line("const Encoding encoding{call.encoding, call.handle};");
    code_.line("Encoder encoder(encoding);");
    code_.statement({"const auto value = " + call.head, call.arguments});
    emit_at_once();
    code_.line("encoder.enumeration(" + literal("value") + ", value);");
    reply({"encoder.finish", {}});
  }

  void emit_text_result(const Expression& call, const meaning::Text& text) {
    code_.line("const Encoding encoding{call.encoding, call.handle};");
    code_.line("Encoder encoder(encoding);");
    code_.statement({"const auto value = " + call.head, call.arguments});
    if (!text.freed_by.empty())
      code_.line(at_end(kReturned, "if (value != nullptr) functions." + text.freed_by + "(value);"));
    emit_at_once();
    code_.line("encoder.text(" + literal("value") + ", value);");
    reply({"encoder.finish", {}});
  }

  // A struct that the library keeps, or that is freed when it has been told, or could not be.
  void emit_object_result(const Expression& call, const meaning::Object& object) {
    code_.line("const Encoding encoding{call.encoding, call.handle};");
    code_.line("Encoder encoder(encoding);");
    code_.statement({"const auto value = " + call.head, call.arguments});
    if (!object.freed_by.empty()) {
      const auto* frees = c::find<c::Function>(api_.header, object.freed_by);
      const std::string arguments = arguments_of_freeing(*frees);
      code_.line(at_end(kReturned, "if (value != nullptr) functions." + frees->name + "(" + arguments + ");"));
    }
    emit_at_once();
    code_.line("encoder.object(" + literal("value") + ", value, kNullable);");
    reply({"encoder.finish", {}});
  }

  // Whether what is returned is the number of elements that were filled in.
  bool tells_filled() const {
    return std::any_of(parts_.begin(), parts_.end(), [&](const Part& part) {
      const auto* room = std::get_if<meaning::OutRoom>(&api_.role(part.path).meaning);
      return room != nullptr && room->filled == "return";
    });
  }

  // Asks whether a run goes on. What it answers before the run began tells what it answers when it has ended: versions
  // differ in which number means which.
  std::string probe_call() const {
    return "functions." + role_.running_probe + "(" + param_with<meaning::UsesHandle>(api_, function_)->name + ")";
  }

  // What is done when the function has succeeded, besides taking over a handle that it returns.
  std::vector<std::string> steps_after() const {
    std::vector<std::string> steps;
    for (const Part& part : parts_) {
      if (!std::holds_alternative<meaning::CreatesHandle>(api_.role(part.path).meaning)) continue;
      steps.push_back("adopt_handle(call, " + name_ + ", " + part.name + ", " + literal(part.name) + ", reply);");
      for (const Part& other : parts_) add_remember(other, steps);
    }
    for (const Part& part : parts_) {
      const Meaning& meaning = api_.role(part.path).meaning;
      if (const auto* room = std::get_if<meaning::OutRoom>(&meaning)) {
        const std::string filled = room->filled == "return" ? "result" : room->filled;
        steps.push_back("tell_out_room(reply, " + literal(part.name) + ", " +
                        (filled.empty() ? part.name : "filled(" + part.name + ", " + filled + ")") + ", call);");
      }
      if (std::holds_alternative<meaning::OutValue>(meaning) || std::holds_alternative<meaning::InOut>(meaning))
        steps.push_back("tell_out_value(reply, " + literal(part.name) + ", " + part.name + ", call);");
      add_changed(part, steps);
      if (const auto* chosen = std::get_if<meaning::OutChosen>(&meaning)) {
        const c::Type& tag = *find_part(parts_, chosen->tag)->type;
        std::string step =
            "tell_chosen(reply, " + literal(part.name) + ", " + chosen->tag + ", " + part.name + ", call";
        for (const auto& [enumerator, name] : chosen->structs) {
          step += ", choice<" + types_.spell(name) + ">(" + types_.enumerator(tag, enumerator) + ")";
        }
        steps.push_back(step + ");");
      }
      if (std::holds_alternative<meaning::OutArray>(meaning)) {
        const bool are_floats = part.type->target.front().kind == c::TypeKind::kFloat;
        steps.push_back("reply[" + literal(part.name) +
                        "] = " + (are_floats ? "floats_to_json(" + part.name + ", call.encoding)" : part.name) + ";");
      }
    }
    if (!role_.running_probe.empty()) {
      steps.push_back("await_end(call, " + name_ + ", [&] { return " + probe_call() + " != idle; });");
    }
    return steps;
  }

  std::string arguments_of_freeing(const c::Function& frees) const {
    std::string arguments;
    for (const std::string& argument : arguments_to_free(api_, function_, frees)) {
      arguments += (arguments.empty() ? "" : ", ") + argument;
    }
    return arguments;
  }

  // Emitted once, behind the call, before anything else that may throw (what checks a returned status, or a yes or no,
  // goes before it: a call that has failed has left nothing): a handle that the function has destroyed is not used any
  // more. Memory that the function left is freed after the answer is written, also if writing fails. `if_succeeded`:
  // the condition under which the function has left any.
  std::vector<std::string> at_once(const std::string& if_succeeded = "") {
    std::vector<std::string> lines;
    if (std::exchange(is_done_, true)) return lines;
    for (const Part& part : parts_) {
      const Meaning& meaning = api_.role(part.path).meaning;
      if (std::holds_alternative<meaning::DestroysHandle>(meaning))
        lines.emplace_back("call.handle->native = nullptr;");
      const auto* frees = c::find<c::Function>(api_.header, freed_by(meaning));
      if (frees == nullptr) continue;
      const auto* object = std::get_if<meaning::Object>(&meaning);
      const auto presence = object != nullptr ? object->presence : std::get<meaning::Array>(meaning).presence;
      std::string condition = if_succeeded;
      if (presence == Presence::kNullable) condition += (condition.empty() ? "" : " && ") + part.name + " != nullptr";
      if (!condition.empty()) condition = "if (" + condition + ") ";
      const std::string arguments = arguments_of_freeing(*frees);
      lines.push_back(at_end(part.name, condition + "functions." + frees->name + "(" + arguments + ");"));
    }
    return lines;
  }
  void emit_at_once() {
    for (const std::string& line : at_once()) code_.line(line);
  }

  // Frees what the variable `name` leads to however the stub ends.
  static std::string at_end(const std::string& name, const std::string& statement) {
    return "const AtEnd free_" + name + "([&] { " + statement + " });";
  }

  // What the function has written into what it was given.
  void add_changed(const Part& part, std::vector<std::string>& steps) const {
    const Meaning& meaning = api_.role(part.path).meaning;
    const auto* array = std::get_if<meaning::Array>(&meaning);
    if (!is_left(meaning) || (array == nullptr && !std::holds_alternative<meaning::Object>(meaning))) return;
    const std::string size = array == nullptr ? "" : std::get<CountedBy>(array->length).count + ", ";
    steps.push_back("tell_changed(reply, " + literal(part.name) + ", " + part.name + ", " + size + "call);");
  }

  void add_remember(const Part& part, std::vector<std::string>& steps) const {
    const Role& role = api_.role(part.path);
    if (!role.remembered_as.empty()) {
      steps.push_back("call.handle->values[" + literal(role.remembered_as) + "] = " + part.name + ";");
    }
    const auto* object = std::get_if<meaning::Object>(&role.meaning);
    if (object == nullptr && !holds_record(api_, part)) return;
    const NamedRecord record = record_of(api_, part);
    const bool remembers = any_part_in(sets_, api_, record.path, &is_remembered);
    const bool is_pointer = object != nullptr && object->starts_from.empty();
    if (remembers) steps.push_back("remember(" + std::string(is_pointer ? "*" : "") + part.name + ", *call.handle);");
  }

  CodeText& code_;
  const std::vector<Api>& sets_;
  const Api& api_;
  const c::Function& function_;
  TypeNames& types_;
  const FunctionRole& role_;
  const std::vector<Part> parts_;
  const std::string name_;
  bool is_done_ = false;  // what at_once() says
};

}  // namespace

void emit_call(CodeText& code, const StubScope& scope, std::vector<Expression> arguments) {
  CallEmitter(code, scope).emit(Expression("functions." + scope.function.name, std::move(arguments)));
}

}  // namespace bindgen
