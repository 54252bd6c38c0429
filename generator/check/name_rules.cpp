#include "check/rules.hpp"

#include "emit/code_text.hpp"
#include "emit/parts.hpp"

#include <map>
#include <set>

namespace bindgen {
namespace {

using c::TypeKind;

// The names of functions and variables that a stub uses, and that a parameter could have as well.
std::set<std::string> called_by_stub(const Api& api, const c::Function& function) {
  std::set<std::string> names;
  const bool is_told = !std::holds_alternative<meaning::Unused>(api.role(function.name + ".return").meaning);
  if (function.returns.kind == TypeKind::kRecord && is_told) names.insert("encode");
  for (const Part& part : parts_of(api, function)) {
    const Meaning& meaning = api.role(part.path).meaning;
    const bool has_fields = std::holds_alternative<meaning::Object>(meaning) || holds_record(api, part);
    if (makes_handle(api, function) && has_fields) names.insert("remember");
    const auto* room = std::get_if<meaning::OutRoom>(&meaning);
    if (room != nullptr && !room->filled.empty()) names.insert("filled");
    if (std::holds_alternative<meaning::OutChosen>(meaning)) names.insert("choice");
    const auto* array = std::get_if<meaning::Array>(&meaning);
    const auto* counted = array != nullptr ? std::get_if<CountedBy>(&array->length) : nullptr;
    if (counted != nullptr && !counted->times.empty()) names.insert("factor");
  }
  return names;
}

// What the stub of a function has beside its parameters.
std::set<std::string> variables_of_stub(const Api& api, const c::Function& function) {
  std::set<std::string> names{"functions", "call", "params", "reply"};
  const Meaning& returned = api.role(function.name + ".return").meaning;
  if (std::holds_alternative<meaning::Text>(returned) || std::holds_alternative<meaning::Object>(returned) ||
      function.returns.kind == TypeKind::kEnum)
    names.insert({"encoding", "encoder", kReturned});
  if (!freed_by(returned).empty()) names.insert(std::string("free_") + kReturned);
  if (function.returns.kind == TypeKind::kRecord) names.insert("result");
  for (const Part& part : parts_of(api, function)) {
    const Meaning& meaning = api.role(part.path).meaning;
    const auto* room = std::get_if<meaning::OutRoom>(&meaning);
    if (room != nullptr && room->filled == "return") names.insert("result");
    if (freed_by(meaning).empty()) continue;
    names.insert("free_" + part.name);
    if (std::holds_alternative<meaning::CreatesHandle>(returned)) names.insert(kReturned);
  }
  if (!api.functions.at(function.name).running_probe.empty()) names.insert("idle");
  return names;
}

// Goes through all names of a header.
class NameInspection {
 public:
  explicit NameInspection(Inspection& inspection) : inspection_(inspection), header_(inspection.api.header) {}

  void inspect() {
    for (const HandleValue& value : inspection_.api.handle_values) made_.insert(constant_name(value.name));
    for (const Stream& stream : inspection_.api.streams) made_.insert(stream.callback + "Stream");
    for (const NamedRecord& record : all_records(inspection_.api)) {
      if (record.path != record.cpp_name) made_.insert(record.cpp_name);
    }
    for (const c::Symbol& symbol : header_.symbols) std::visit([this](const auto& any) { inspect(any); }, symbol);
  }

 private:
  void inspect(const c::Macro& macro) { declare(macro, Declares::kConstant); }
  void inspect(const c::Alias& alias) { declare(alias, Declares::kType); }
  void inspect(const c::Opaque& opaque) { declare(opaque, Declares::kType); }
  void inspect(const c::Enum& entity) {
    declare(entity, Declares::kType);
    for (const c::Enumerator& enumerator : entity.enumerators) declare(enumerator, Declares::kConstant);
  }
  void inspect(const c::Callback& callback) {
    declare(callback, Declares::kType);
    for (const c::Param& param : callback.params) inspect_name(param.name, param.location);
  }
  void inspect(const c::Record& record) {
    declare(record, Declares::kType);
    std::set<std::string> types;
    add_types(record, types);
    inspect_fields(record, types);
  }
  void inspect(const c::Function& function) {
    declare(function, Declares::kFunction);
    if (function.symbol != function.name)
      inspection_.complain(function.location, function.name + " is called " + function.symbol +
                                                  " in the library; no table of functions can find it by its name");
    inspect_params(function);
  }

  // What becomes a name in the namespace of the generated code.
  template <class Declaration>
  void declare(const Declaration& declaration, Declares declares) {
    const std::string& name = declaration.name;
    if (name.empty()) return;
    inspect_name(name, declaration.location);
    if (is_of_generated_code(name, declares) || made_.count(name) != 0)
      inspection_.complain(declaration.location, name + ": the generated code means something else by this name");
    if (!declared_.insert(name).second)
      inspection_.complain(declaration.location,
                           "a second declaration of " + name + ", which C++ cannot tell from the first");
  }

  void inspect_name(const std::string& name, const Location& at) {
    if (is_word_of_cpp20(name)) inspection_.complain(at, name + " is a word of C++20, so nothing can be called so");
    if (is_macro_of_c(name)) inspection_.complain(at, name + " is a macro of the C library, which replaces the name");
  }

  // `types` are those of all fields: in C++ a name has one meaning in the whole of a struct.
  void inspect_fields(const c::Record& record, const std::set<std::string>& types) {
    for (const c::Field& field : record.fields) {
      for (const c::Record& inner : field.inline_record) inspect_fields(inner, types);
      if (field.name.empty() && field.inline_record.empty()) continue;  // bits that only fill up
      inspect_name(field.name, field.location);
      if (types.count(field.name) != 0)
        inspection_.complain(field.location, "the field " + field.name + " is called like a type in the same struct");
    }
  }

  static void add_types(const c::Record& record, std::set<std::string>& types) {
    for (const c::Field& field : record.fields) {
      add_types(field.type, types);
      for (const c::Record& inner : field.inline_record) add_types(inner, types);
    }
  }

  static void add_types(const c::Type& type, std::set<std::string>& types) {
    if (!type.name.empty()) {
      types.insert(type.name);
      return;
    }
    for (const c::Type& target : type.target) add_types(target, types);
    for (const c::Type& param : type.params) add_types(param, types);
  }

  // The types of a parameter that the code of the call names, where the parameter would hide them.
  static std::set<std::string> named_for(const c::Param& param, const Meaning& meaning) {
    std::set<std::string> types;
    if (is_handle(meaning)) types.insert(param.type.name);
    if (std::holds_alternative<meaning::OutRoom>(meaning) || std::holds_alternative<meaning::OutArray>(meaning))
      add_types(param.type, types);
    if (const auto* chosen = std::get_if<meaning::OutChosen>(&meaning)) {
      for (const auto& [enumerator, name] : chosen->structs) types.insert(name);
    }
    return types;
  }

  void inspect_params(const c::Function& function) {
    const std::set<std::string> of_stub = variables_of_stub(inspection_.api, function);
    const std::set<std::string> called = called_by_stub(inspection_.api, function);
    std::set<std::string> names;
    for (const c::Param& param : function.params) {
      inspect_name(param.name, param.location);
      if (of_stub.count(param.name) != 0)
        inspection_.complain(param.location, function.name + ": the generated code has a variable " + param.name +
                                                 " of its own; rename the parameter in the header");
      if (called.count(param.name) != 0 || is_of_generated_code(param.name, Declares::kParam) ||
          made_.count(param.name) != 0)
        inspection_.complain(param.location, function.name + ": the generated code means something else by " +
                                                 param.name + "; rename the parameter in the header");
      if (!names.insert(param.name).second) inspection_.complain(param.location, "two parameters named " + param.name);
      std::set<std::string> types;
      for (const c::Param& other : function.params) {
        if (&other != &param) add_types(other.type, types);
      }
      if (types.count(param.name) != 0)
        inspection_.complain(param.location, "the parameter " + param.name + " is called like the type of another");
      if (named_for(param, inspection_.api.role(function.name + "." + param.name).meaning).count(param.name) != 0)
        inspection_.complain(param.location, "the parameter " + param.name + " is called like its own type");
    }
  }

  Inspection& inspection_;
  const c::Header& header_;
  std::set<std::string> made_;      // names that the generated code makes of others
  std::set<std::string> declared_;  // so far
};

}  // namespace

void names_are_usable(Inspection& inspection) { NameInspection(inspection).inspect(); }

}  // namespace bindgen
