#include "check/rules.hpp"

#include "emit/parts.hpp"
#include "read/declaration.hpp"

#include <algorithm>
#include <optional>

namespace bindgen {
namespace {

// Whether this function takes one handle and nothing else, and answers yes or no.
bool is_probe(const Api& api, const std::string& name) {
  const auto* function = c::find<c::Function>(api.header, name);
  return function != nullptr && function->params.size() == 1 &&
         param_with<meaning::UsesHandle>(api, *function) != nullptr &&
         std::holds_alternative<meaning::Predicate>(api.role(name + ".return").meaning);
}

// A handle's type, whether const or not, and whether a typedef names the pointer or not: "env*". What is behind a void*
// only its typedef tells; empty without: it could be any.
std::string handle_name(const c::Type& type) {
  if (type.kind != c::TypeKind::kPointer) return type.name;
  const c::Type& target = type.target.front();
  if (target.kind == c::TypeKind::kVoid) return type.name;
  return handle_name(target) + "*";
}

struct Handle {
  std::string type;  // see handle_name()
  std::string shown;
  bool is_pointer = false;
};

// A void* without a typedef may be any pointer, but no number.
bool may_be_the_same(const Handle& one, const Handle& other) {
  if (one.is_pointer != other.is_pointer) return false;
  return one.type.empty() || other.type.empty() || one.type == other.type;
}

// The types of the handles that a function takes, makes and ends.
std::vector<Handle> handles_of(const Api& api, const c::Function& function) {
  std::vector<Handle> found;
  const auto handle = [](const c::Type& type) {
    return Handle{handle_name(type), spelling(type), type.kind == c::TypeKind::kPointer};
  };
  const auto add = [&](const std::string& path, const c::Type& type, const c::Type& made) {
    const Meaning& meaning = api.role(path).meaning;
    if (std::holds_alternative<meaning::CreatesHandle>(meaning)) found.push_back(handle(made));
    if (std::holds_alternative<meaning::UsesHandle>(meaning)) found.push_back(handle(type));
    if (std::holds_alternative<meaning::DestroysHandle>(meaning)) found.push_back(handle(type));
  };
  for (const Part& part : parts_of(api, function)) {
    add(part.path, *part.type, part.type->target.empty() ? *part.type : part.type->target.front());
  }
  add(function.name + ".return", function.returns, function.returns);
  return found;
}

// Why `frees` cannot get its handle, or why a handle of `function` cannot be its argument; empty if neither is so.
std::string obstacle_of_handle(const Api& api, const c::Function& function, const c::Function& frees) {
  const c::Param* const handle = param_with<meaning::UsesHandle>(api, function);
  for (const c::Param& param : frees.params) {
    const std::string path = frees.name + "." + param.name;
    const Meaning& meaning = api.role(path).meaning;
    if (std::holds_alternative<meaning::DestroysHandle>(meaning))
      return "; it ends the handle " + path + ", which is for a method";
    const bool wants_handle = std::holds_alternative<meaning::UsesHandle>(meaning);
    if (wants_handle && handle == nullptr && !makes_handle(api, function))
      return "; it takes the handle " + path + ", and " + function.name + " is given none";
    if (!wants_handle && handle != nullptr && spelling(handle->type) == spelling(param.type))
      return "; if " + path + " is the handle, say so: " +
             Json{{"for", path}, {"quote", declaration(param)}, {"handle", {{"role", "uses"}}}}.dump();
  }
  return {};
}

// What frees what a function has left is called with arguments of that function.
void inspect_freeing(Inspection& inspection, const Part& part, const std::string& frees) {
  inspection.require(is_left(inspection.api.role(part.path).meaning), part,
                     "\"freed_by\" is for what is returned, or \"changed\"");
  const auto* freeing = c::find<c::Function>(inspection.api.header, frees);
  const auto* function = c::find<c::Function>(inspection.api.header, part.path.substr(0, part.path.find('.')));
  if (function == nullptr) return;  // a field; said elsewhere
  const auto arguments =
      freeing != nullptr ? arguments_to_free(inspection.api, *function, *freeing) : std::vector<std::string>{};
  const bool is_of_structs = part.type->target.front().kind == c::TypeKind::kRecord;
  inspection.require(is_of_structs, part, "\"freed_by\" is for structs, in which something can be left");
  if (is_of_structs) inspect_left_pointers(inspection, record_of(inspection.api, part), frees);
  const auto parts = parts_of(inspection.api, *function);
  const auto is_freed_so = [&](const Part& other) {
    return freed_by(inspection.api.role(other.path).meaning) == frees;
  };
  inspection.require(std::count_if(parts.begin(), parts.end(), is_freed_so) == 1, part,
                     frees + " is the \"freed_by\" of another parameter, too, and would be called twice");
  inspection.require(std::find(arguments.begin(), arguments.end(), part.name) != arguments.end(), part,
                     frees +
                         " is no function that takes this, and else only what stands beside it: of each type that "
                         "it takes, there has to be one parameter" +
                         (freeing != nullptr ? obstacle_of_handle(inspection.api, *function, *freeing) : ""));
}

}  // namespace

// A call speaks of one handle, and the wire tells handles by their ids alone.
void handles_are_of_one_type(Inspection& inspection) {
  std::optional<Handle> first;
  for (const c::Function* function : c::all<c::Function>(inspection.api.header)) {
    const auto handles = handles_of(inspection.api, *function);
    if (handles.size() > 1)
      inspection.complain(
          function->location,
          function->name +
              " has several handles, and each handle lives in a worker process of its own, where the "
              "others are not; leave the function out: " +
              Json{{"for", function->name}, {"quote", declaration(*function)}, {"unused", Json::object()}}.dump());
    for (const Handle& handle : handles) {
      const bool says_more = !first || (first->type.empty() && may_be_the_same(handle, *first));
      if (says_more) first = handle;
      if (may_be_the_same(handle, *first)) continue;
      inspection.complain(function->location, function->name + " has a handle of type " + handle.shown +
                                                  ", others are of type " + first->shown +
                                                  "; only one type is supported");
    }
  }
}

void referred_functions_exist(Inspection& inspection) {
  const c::Header& header = inspection.api.header;
  inspection.each_part([&](const Part& part, const auto&) {
    const Meaning& meaning = inspection.api.role(part.path).meaning;
    if (const std::string frees = freed_by(meaning); !frees.empty()) inspect_freeing(inspection, part, frees);
    const auto* object = std::get_if<meaning::Object>(&meaning);
    if (object == nullptr || object->starts_from.empty()) return;
    const auto* function = c::find<c::Function>(header, object->starts_from);
    const bool fits =
        function != nullptr && function->params.empty() && function->returns.name == part.type->target.front().name;
    inspection.require(fits, part, object->starts_from + " is no function without parameters that returns this struct");
  });
  for (const c::Function* function : c::all<c::Function>(header)) {
    const Meaning& meaning = inspection.api.role(function->name + ".return").meaning;
    const auto* text = std::get_if<meaning::Text>(&meaning);
    const auto* object = std::get_if<meaning::Object>(&meaning);
    if (object != nullptr &&
        (object->presence != Presence::kRequired || !object->starts_from.empty() || object->is_changed))
      inspection.complain(function->location,
                          function->name + ".return: of a returned struct only \"freed_by\" is said");
    const std::string freeing = freed_by(meaning);
    if (freeing.empty()) continue;
    const auto* frees = c::find<c::Function>(header, freeing);
    if (frees != nullptr && text != nullptr && takes_just(inspection.api, *frees, function->returns)) continue;
    const auto arguments = frees != nullptr && object != nullptr ? arguments_to_free(inspection.api, *function, *frees)
                                                                 : std::vector<std::string>{};
    if (std::find(arguments.begin(), arguments.end(), kReturned) != arguments.end()) continue;
    inspection.complain(function->location,
                        function->name + ": " + freeing + " is no function that takes just the " +
                            (text != nullptr ? "text" : "struct") +
                            (frees != nullptr ? obstacle_of_handle(inspection.api, *function, *frees) : ""));
  }
  for (const auto& [name, role] : inspection.api.functions) {
    if (role.running_probe.empty()) continue;
    const auto* function = c::find<c::Function>(header, name);
    if (!is_probe(inspection.api, role.running_probe))
      inspection.complain(function->location, name + ": " + role.running_probe + " is no predicate of just a handle");
    if (param_with<meaning::UsesHandle>(inspection.api, *function) == nullptr)
      inspection.complain(function->location, name + ": it uses no handle that " + role.running_probe + " could take");
  }
}

// A parameter that is declared as an array of so many elements is given, or has room for, as many.
void declared_arrays_are_whole(Inspection& inspection) {
  const Api& api = inspection.api;
  for (const c::Function* function : c::all<c::Function>(api.header)) {
    const auto parts = parts_of(api, *function);
    for (const c::Param& param : function->params) {
      const Part* part = find_part(parts, param.name);
      if (part == nullptr) continue;
      const Meaning& meaning = api.role(part->path).meaning;
      const auto* room_of = std::get_if<meaning::OutRoom>(&meaning);
      const bool is_left_whole = room_of != nullptr && room_of->room.empty();
      inspection.require(!is_left_whole || param.extent > 0, *part,
                         "\"whole\" is for what is declared with a number of elements");
      const auto* array = std::get_if<meaning::Array>(&meaning);
      const bool is_given_whole = array != nullptr && std::holds_alternative<Whole>(array->length);
      if (param.extent <= 1 || is_left_whole || is_given_whole) continue;
      const std::string many = std::to_string(param.extent);
      const bool is_filled_in = std::holds_alternative<meaning::OutArray>(meaning);
      const bool is_given = array != nullptr && !array->is_changed && param.type.kind == c::TypeKind::kPointer &&
                            param.type.target.front().kind != c::TypeKind::kPointer;
      const bool may_be_fewer = array != nullptr || std::holds_alternative<meaning::Batch>(meaning) || is_filled_in;
      inspection.require(
          !may_be_fewer, *part,
          "it is declared as an array of " + many +
              ", and there may be fewer; if fewer will do, declare it as a pointer in the header, else " +
              (is_given       ? R"(say "array": {"whole": true})"
               : is_filled_in ? R"(say "out": {"whole": true})"
                              : R"(mark it "unused")"));
      inspection.require(!std::holds_alternative<meaning::Text>(meaning), *part,
                         "it is declared as an array of " + many +
                             R"(, and a text may be shorter; say "array": {"whole": true} for so many bytes)");
      const bool is_of_one =
          std::holds_alternative<meaning::Object>(meaning) || std::holds_alternative<meaning::OutValue>(meaning) ||
          std::holds_alternative<meaning::InOut>(meaning) || std::holds_alternative<meaning::CreatesHandle>(meaning);
      inspection.require(!is_of_one, *part,
                         "it is declared as an array of " + many + ", and this would be one of them");
      const auto* out = std::get_if<meaning::OutRoom>(&meaning);
      const Part* room = out != nullptr ? find_part(parts, out->room) : nullptr;
      const auto* value = room != nullptr ? std::get_if<meaning::Value>(&api.role(room->path).meaning) : nullptr;
      inspection.require(value == nullptr || value->minimum.value_or(0) >= static_cast<double>(param.extent), *part,
                         "it is declared as an array of " + many + ", so the \"minimum\" of its room is no less");
    }
  }
}

// What is said of a function as a whole agrees with itself and with its parameters.
void functions_can_be_so(Inspection& inspection) {
  const Api& api = inspection.api;
  for (const c::Function* function : methods_of(api)) {
    const FunctionRole& role = api.functions.at(function->name);
    const auto require = [&](bool condition, const std::string& message) {
      if (!condition) inspection.complain(function->location, function->name + ": " + message);
    };
    const bool streams = !streams_of(api, *function).empty();
    require(!role.read_only || !role.destructive, "\"read_only\" and \"destructive\" exclude each other");
    require(!role.streams_by_default || streams, "it streams nothing, so not by default either");
    require(!role.aborts || param_with<meaning::UsesHandle>(api, *function) != nullptr,
            "it is given no handle whose run it could abort");
    require(streams || param_with<meaning::StreamUserdata>(api, *function) == nullptr,
            "there is no stream that its \"userdata\" could carry");
  }
}

}  // namespace bindgen
