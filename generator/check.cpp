#include "check.hpp"

#include "diagnostics.hpp"
#include "walk.hpp"

#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace bindgen {
namespace {

using c::TypeKind;

// One rule at work: collects complaints under the rule's name.
class Inspection {
 public:
  Inspection(const Api& inspected, const char* rule, std::vector<Diagnostic>& complaints)
      : api(inspected), rule_(rule), complaints_(complaints) {}

  void complain(const Location& at, const std::string& message) {
    complaints_.push_back(bindgen::complain(api.header, at, message + " [" + rule_ + "]"));
  }
  void require(bool condition, const Part& part, const std::string& message) {
    if (!condition) complain(part.location, part.path + ": " + message);
  }
  // Calls `function` with each part that has a meaning, and the parts beside it.
  template <class Function>
  void each_part(Function function) {
    for (const NamedRecord& record : all_records(api)) {
      const auto parts = parts_of(api, *record.record, record.path);
      for (const Part& part : parts) function(part, parts);
    }
    for (const c::Function* callable : c::all<c::Function>(api.header)) {
      const auto parts = parts_of(api, *callable);
      for (const Part& part : parts) function(part, parts);
    }
  }

  const Api& api;

 private:
  const char* rule_;
  std::vector<Diagnostic>& complaints_;
};

bool is_integer(const c::Type& type) { return type.kind == TypeKind::kSigned || type.kind == TypeKind::kUnsigned; }

bool points_at(const c::Type& type, TypeKind kind) {
  return type.kind == TypeKind::kPointer && type.target.front().kind == kind;
}

// What a meaning demands of the C type.
bool fits(const Meaning& meaning, const c::Type& type) {
  const auto points_at_numbers = [&] {
    return type.kind == TypeKind::kPointer &&
           (is_integer(type.target.front()) || type.target.front().kind == TypeKind::kFloat);
  };
  return match(
      meaning,
      [&](const meaning::Value& value) {
        if (value.is_flag) return is_integer(type);
        if (!value.present_if.empty()) return type.kind == TypeKind::kRecord;
        return is_integer(type) || type.kind == TypeKind::kBool || type.kind == TypeKind::kFloat ||
               type.kind == TypeKind::kEnum || type.kind == TypeKind::kRecord;
      },
      [&](const meaning::Text&) { return points_at(type, TypeKind::kCharacter); },
      [&](const meaning::Object&) { return points_at(type, TypeKind::kRecord); },
      [&](const meaning::Batch&) { return points_at(type, TypeKind::kRecord); },
      [&](const meaning::Array&) { return points_at_numbers(); },
      [&](const meaning::Count&) { return is_integer(type); },
      [&](const meaning::TaggedUnion&) { return type.kind == TypeKind::kRecord; },
      [&](const meaning::CpuMask&) { return type.kind == TypeKind::kUnsigned; },
      [&](const meaning::CpuCount&) { return is_integer(type); },
      [&](const meaning::UsesHandle&) { return type.kind == TypeKind::kPointer; },
      [&](const meaning::CreatesHandle&) { return points_at(type, TypeKind::kPointer); },
      [&](const meaning::DestroysHandle&) { return type.kind == TypeKind::kPointer; },
      [&](const meaning::OutArray&) { return points_at_numbers(); },
      [&](const meaning::Callbacks&) { return points_at(type, TypeKind::kRecord); },
      [&](const meaning::StreamCallback&) { return points_at(type, TypeKind::kFunction); },
      [&](const meaning::StreamUserdata&) { return points_at(type, TypeKind::kVoid); },
      [&](const meaning::Unused&) { return true; },  //
      [&](const meaning::Status&) { return is_integer(type); },
      [&](const meaning::Predicate&) { return is_integer(type); });
}

void meanings_fit_types(Inspection& inspection) {
  inspection.each_part([&](const Part& part, const auto&) {
    inspection.require(fits(inspection.api.role(part.path).meaning, *part.type), part,
                       "its meaning in the overlay does not fit its C type");
  });
}

// What can be told of a returned value.
bool can_be_returned(const Meaning& meaning, const c::Type& type) {
  if (std::holds_alternative<meaning::CreatesHandle>(meaning)) return type.kind == TypeKind::kPointer;
  return std::holds_alternative<meaning::Unused>(meaning) ||
         (fits(meaning, type) &&
          (std::holds_alternative<meaning::Value>(meaning) || std::holds_alternative<meaning::Text>(meaning) ||
           std::holds_alternative<meaning::Status>(meaning) || std::holds_alternative<meaning::Predicate>(meaning)));
}

void returns_can_be_told(Inspection& inspection) {
  for (const c::Function* function : methods_of(inspection.api)) {
    const Meaning& meaning = inspection.api.role(function->name + ".return").meaning;
    if (can_be_returned(meaning, function->returns)) continue;
    inspection.complain(function->location, function->name + ".return: its meaning in the overlay is none of a result");
  }
}

void session_values_are_declared(Inspection& inspection) {
  std::set<std::string> known;
  for (const SessionValue& value : inspection.api.session) known.insert(value.name);
  const auto require = [&](const SessionRef& reference, const Part& part) {
    inspection.require(known.count(reference.name) != 0, part,
                       "the overlay's \"session\" does not declare " + reference.name);
  };
  inspection.each_part([&](const Part& part, const auto&) {
    const Role& role = inspection.api.role(part.path);
    if (!role.remembered_as.empty()) require({role.remembered_as}, part);
    if (const auto* batch = std::get_if<meaning::Batch>(&role.meaning)) require(batch->count, part);
    if (const auto* out = std::get_if<meaning::OutArray>(&role.meaning)) require(out->count, part);
    const auto* array = std::get_if<meaning::Array>(&role.meaning);
    if (array == nullptr) return;
    if (array->below) require(*array->below, part);
    if (const auto* exactly = std::get_if<Exactly>(&array->length)) require(exactly->count, part);
    const auto* counted = std::get_if<CountedBy>(&array->length);
    if (counted == nullptr) return;
    for (const ValueRef& factor : counted->times) {
      if (const auto* session = std::get_if<SessionRef>(&factor)) require(*session, part);
    }
  });
}

void references_name_siblings(Inspection& inspection) {
  inspection.each_part([&](const Part& part, const std::vector<Part>& parts) {
    const auto require = [&](const std::string& name) {
      inspection.require(name.empty() || find_part(parts, name) != nullptr, part,
                         "nothing beside it is called " + name);
    };
    const Role& role = inspection.api.role(part.path);
    const auto* array = std::get_if<meaning::Array>(&role.meaning);
    if (array == nullptr) return;
    require(array->together_with);
    if (const auto* multiple = std::get_if<MultipleOf>(&array->length)) require(multiple->count);
    if (const auto* same = std::get_if<SameLengthAs>(&array->length)) require(same->array);
  });
}

void unions_are_covered(Inspection& inspection) {
  inspection.each_part([&](const Part& part, const std::vector<Part>& parts) {
    const auto* tagged = std::get_if<meaning::TaggedUnion>(&inspection.api.role(part.path).meaning);
    if (tagged == nullptr || part.field == nullptr) return;
    const Part* tag = find_part(parts, tagged->tag);
    const bool has_tag = tag != nullptr && tag->type->kind == TypeKind::kEnum;
    inspection.require(has_tag, part, "its tag " + tagged->tag + " is no enum beside it");
    if (!has_tag) return;
    const c::Enum* tags = c::find<c::Enum>(inspection.api.header, tag->type->name);
    for (const auto& [member, enumerator] : tagged->members) {
      const auto is_it = [&name = enumerator](const c::Enumerator& known) { return known.name == name; };
      const bool known = std::any_of(tags->enumerators.begin(), tags->enumerators.end(), is_it);
      inspection.require(known, part, enumerator + " is no enumerator of " + tags->name);
    }
    for (const c::Field& field : part.field->inline_record.front().fields) {
      const auto is_it = [&](const auto& pair) { return pair.first == field.name; };
      const bool named = std::any_of(tagged->members.begin(), tagged->members.end(), is_it);
      inspection.require(named, part, "no enumerator of the tag stands for member " + field.name);
    }
  });
}

void streams_are_complete(Inspection& inspection) {
  for (const Stream& stream : inspection.api.streams) {
    const Location at = c::find<c::Callback>(inspection.api.header, stream.callback)->location;
    const c::Record* result = c::find<c::Record>(inspection.api.header, stream.result);
    const c::Enum* states = c::find<c::Enum>(inspection.api.header, stream.state);
    if (result == nullptr || states == nullptr) {
      inspection.complain(at, stream.callback + ": no struct " + stream.result + " or no enum " + stream.state);
      continue;
    }
    const auto parts = parts_of(inspection.api, *result, result->name);
    std::vector<std::string> fields = stream.values;
    fields.insert(fields.end(), {stream.text, stream.token});
    for (const StreamRows& rows : stream.rows) fields.push_back(rows.field);
    for (const std::string& field : fields) {
      if (find_part(parts, field) == nullptr) inspection.complain(at, stream.result + " has no field " + field);
    }
    for (const c::Enumerator& state : states->enumerators) {
      const auto is_it = [&](const auto& pair) { return pair.first == state.name; };
      if (std::none_of(stream.states.begin(), stream.states.end(), is_it)) {
        inspection.complain(state.location, "the stream of " + stream.callback + " does not say what " + state.name +
                                                " is: token, end or failure");
      }
    }
  }
}

void userdata_is_for_one_stream(Inspection& inspection) {
  for (const c::Function* function : c::all<c::Function>(inspection.api.header)) {
    if (streams_of(inspection.api, *function).size() <= 1) continue;
    inspection.complain(function->location,
                        function->name + ": which of its callbacks its userdata is for is not told");
  }
}

void referred_functions_exist(Inspection& inspection) {
  const c::Header& header = inspection.api.header;
  inspection.each_part([&](const Part& part, const auto&) {
    const auto* object = std::get_if<meaning::Object>(&inspection.api.role(part.path).meaning);
    if (object == nullptr || object->starts_from.empty()) return;
    const auto* function = c::find<c::Function>(header, object->starts_from);
    const bool fits =
        function != nullptr && function->params.empty() && function->returns.name == part.type->target.front().name;
    inspection.require(fits, part, object->starts_from + " is no function without parameters that returns this struct");
  });
  for (const c::Function* function : c::all<c::Function>(header)) {
    const auto* text = std::get_if<meaning::Text>(&inspection.api.role(function->name + ".return").meaning);
    if (text == nullptr || text->freed_by.empty()) continue;
    const auto* frees = c::find<c::Function>(header, text->freed_by);
    if (frees != nullptr && frees->params.size() == 1) continue;
    inspection.complain(function->location,
                        function->name + ": " + text->freed_by + " is no function that takes just the text");
  }
  for (const auto& [name, role] : inspection.api.functions) {
    if (role.running_probe.empty()) continue;
    const auto probe = inspection.api.roles.find(role.running_probe + ".return");
    const bool is_predicate =
        probe != inspection.api.roles.end() && std::holds_alternative<meaning::Predicate>(probe->second.meaning);
    if (is_predicate) continue;
    inspection.complain(c::find<c::Function>(header, name)->location,
                        name + ": " + role.running_probe + " is no predicate");
  }
}

// A group is one object, so its fields stand side by side; one of them, an array, tells whether it is there.
void groups_are_whole(Inspection& inspection) {
  for (const NamedRecord& record : all_records(inspection.api)) {
    std::set<std::string> ended;
    std::set<std::string> with_sign;
    std::string last;
    const auto parts = parts_of(inspection.api, *record.record, record.path);
    for (const Part& part : parts) {
      const Role& role = inspection.api.role(part.path);
      if (role.group != last) ended.insert(std::exchange(last, role.group));
      if (role.group.empty()) continue;
      inspection.require(inspection.api.groups.count(role.group) != 0, part,
                         "the overlay's \"groups\" does not say what " + role.group + " is");
      inspection.require(ended.count(role.group) == 0, part, "the fields of group " + role.group + " stand apart");
      if (std::holds_alternative<meaning::Array>(role.meaning)) with_sign.insert(role.group);
    }
    for (const Part& part : parts) {
      const Role& role = inspection.api.role(part.path);
      inspection.require(role.group.empty() || with_sign.count(role.group) != 0, part,
                         "its group " + role.group + " has no array to tell whether it is there");
    }
  }
}

void names_are_usable(Inspection& inspection) {
  for (const c::Function* function : c::all<c::Function>(inspection.api.header)) {
    std::set<std::string> names;
    for (const c::Param& param : function->params) {
      if (param.name.empty()) inspection.complain(param.location, function->name + ": a parameter without a name");
      if (!names.insert(param.name).second) inspection.complain(param.location, "two parameters named " + param.name);
    }
  }
}

constexpr std::pair<const char*, void (*)(Inspection&)> kRules[] = {
    {"names-are-usable", &names_are_usable},
    {"meanings-fit-types", &meanings_fit_types},
    {"returns-can-be-told", &returns_can_be_told},
    {"session-values-are-declared", &session_values_are_declared},
    {"references-name-siblings", &references_name_siblings},
    {"unions-are-covered", &unions_are_covered},
    {"streams-are-complete", &streams_are_complete},
    {"userdata-is-for-one-stream", &userdata_is_for_one_stream},
    {"groups-are-whole", &groups_are_whole},
    {"referred-functions-exist", &referred_functions_exist},
};

}  // namespace

void check(const Api& api) {
  std::vector<Diagnostic> complaints;
  for (const auto& [name, rule] : kRules) {
    Inspection inspection(api, name, complaints);
    rule(inspection);
  }
  if (!complaints.empty()) throw Refusal(std::move(complaints));
}

}  // namespace bindgen
