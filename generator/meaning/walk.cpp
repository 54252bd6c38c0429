#include "meaning/walk.hpp"

#include <algorithm>
#include <cstddef>

namespace bindgen {
namespace {

std::string wire_documentation(const Api& api, const std::string& path, const std::string& of_header) {
  const auto role = api.roles.find(path);
  return role != api.roles.end() && !role->second.documentation.empty() ? role->second.documentation : of_header;
}

std::string wire_brief(const Api& api, const std::string& path, const std::string& documentation) {
  const auto role = api.roles.find(path);
  return role != api.roles.end() && role->second.brief ? *role->second.brief : documentation;
}

// Members of unions are on the wire, but unions themselves are not; and nothing is of what is unused.
void add_records(const Api& api, const c::Record& record, const std::string& path, std::vector<NamedRecord>& found) {
  for (const c::Field& field : record.fields) {
    if (field.inline_record.empty()) continue;
    const auto role = api.roles.find(path_of(path, field));
    if (role != api.roles.end() && std::holds_alternative<meaning::Unused>(role->second.meaning)) continue;
    add_records(api, field.inline_record.front(), field.name.empty() ? path : path_of(path, field), found);
    if (field.name.empty() || field.inline_record.front().is_union) continue;
    found.push_back(
        {path_of(path, field), cpp_name_of(field.type, path_of(path, field)), &field.inline_record.front()});
  }
}

// The streams of the callbacks among these parts, and of those in the structs of callbacks among them.
void add_streams(const Api& api, const std::vector<Part>& parts, std::vector<const Stream*>& found) {
  for (const Part& part : parts) {
    const Meaning& meaning = api.role(part.path).meaning;
    if (const auto* callback = std::get_if<meaning::StreamCallback>(&meaning)) {
      found.push_back(api.stream(callback->name));
    }
    if (!std::holds_alternative<meaning::Callbacks>(meaning)) continue;
    const c::Record* record = c::find<c::Record>(api.header, part.type->target.front().name);
    if (record != nullptr) add_streams(api, parts_of(api, *record, record->name), found);
  }
}

}  // namespace

std::vector<Part> parts_of(const Api& api, const c::Record& record, const std::string& path) {
  std::vector<Part> parts;
  for (const c::Field& field : record.fields) {
    if (field.name.empty() && field.inline_record.empty()) continue;  // bits that only fill up
    const std::string own_path = path_of(path, field);
    const bool is_anonymous_struct =
        field.name.empty() && !field.inline_record.empty() && !field.inline_record.front().is_union;
    if (!is_anonymous_struct) {
      const std::string documentation = wire_documentation(api, own_path, field.documentation.text);
      parts.push_back({own_path, field.name, &field.type, &field, field.location, documentation,
                       wire_brief(api, own_path, documentation), field.documentation.is_deprecated});
    }
    if (!field.name.empty() || field.inline_record.empty()) continue;
    const auto inner = parts_of(api, field.inline_record.front(), path);
    parts.insert(parts.end(), inner.begin(), inner.end());
  }
  return parts;
}

std::vector<Part> parts_of(const Api& api, const c::Function& function) {
  std::vector<Part> parts;
  for (const c::Param& param : function.params) {
    const std::string path = function.name + "." + param.name;
    const std::string documentation = wire_documentation(api, path, function.documentation.of_param(param.name));
    parts.push_back({path, param.name, &param.type, nullptr, param.location, documentation,
                     wire_brief(api, path, documentation), false, param.extent});
  }
  return parts;
}

c::Type array_type(const Part& part, const meaning::Array& array) {
  const bool is_passed = part.type->kind == c::TypeKind::kPointer && part.extent != 0;
  if (!is_passed || !std::holds_alternative<Whole>(array.length)) return *part.type;
  c::Type declared;
  declared.kind = c::TypeKind::kArray;
  declared.target = part.type->target;
  declared.count = part.extent;
  return declared;
}

std::vector<NamedRecord> all_records(const Api& api) {
  std::vector<NamedRecord> found;
  for (const c::Record* record : c::all<c::Record>(api.header)) {
    if (record->is_union) continue;
    add_records(api, *record, record->name, found);
    found.push_back({record->name, record->name, record});
  }
  return found;
}

std::string cpp_name_of(const c::Type& type, const std::string& path) {
  if (!type.name.empty()) return type.name;
  std::string name = path;
  std::replace(name.begin(), name.end(), '.', '_');
  return name;
}

bool is_on_wire(const Meaning& meaning) {
  return match(
      meaning,                                               //
      [](const meaning::Value&) { return true; },            //
      [](const meaning::Text&) { return true; },             //
      [](const meaning::Object&) { return true; },           //
      [](const meaning::Batch&) { return true; },            //
      [](const meaning::Array&) { return true; },            //
      [](const meaning::Count&) { return true; },            //
      [](const meaning::TaggedUnion&) { return false; },     //
      [](const meaning::CpuMask&) { return true; },          //
      [](const meaning::CpuCount&) { return true; },         //
      [](const meaning::UsesHandle&) { return true; },       //
      [](const meaning::CreatesHandle&) { return false; },   //
      [](const meaning::DestroysHandle&) { return true; },   //
      [](const meaning::OutArray&) { return false; },        //
      [](const meaning::OutValue&) { return false; },        //
      [](const meaning::OutRoom&) { return false; },         //
      [](const meaning::InOut&) { return true; },            //
      [](const meaning::OutChosen&) { return true; },        // the client may fill in what the function reads of it
      [](const meaning::SizeOf&) { return false; },          //
      [](const meaning::Callbacks&) { return false; },       //
      [](const meaning::StreamCallback&) { return false; },  //
      [](const meaning::StreamUserdata&) { return false; },  //
      [](const meaning::Unused&) { return false; },          //
      [](const meaning::Status&) { return false; },          //
      [](const meaning::Predicate&) { return false; });
}

bool is_handle(const Meaning& meaning) {
  return std::holds_alternative<meaning::UsesHandle>(meaning) ||
         std::holds_alternative<meaning::CreatesHandle>(meaning) ||
         std::holds_alternative<meaning::DestroysHandle>(meaning);
}

bool is_left(const Meaning& meaning) {
  if (const auto* object = std::get_if<meaning::Object>(&meaning)) return object->is_changed;
  if (const auto* array = std::get_if<meaning::Array>(&meaning)) return array->is_changed;
  return std::holds_alternative<meaning::OutArray>(meaning) || std::holds_alternative<meaning::OutValue>(meaning) ||
         std::holds_alternative<meaning::OutRoom>(meaning) || std::holds_alternative<meaning::InOut>(meaning) ||
         std::holds_alternative<meaning::OutChosen>(meaning);
}

std::string freed_by(const Meaning& meaning) {
  if (const auto* text = std::get_if<meaning::Text>(&meaning)) return text->freed_by;
  if (const auto* object = std::get_if<meaning::Object>(&meaning)) return object->freed_by;
  if (const auto* array = std::get_if<meaning::Array>(&meaning)) return array->freed_by;
  return {};
}

std::string present_path(const Api& api, const std::string& path) {
  const auto dot = std::min(path.find('.'), path.size());
  const auto renamed = api.renamed.find(path.substr(0, dot));
  if (renamed == api.renamed.end()) return path;
  if (c::find<c::Record>(api.header, renamed->second) != nullptr) return path;  // this version has both
  return renamed->second + path.substr(dot);
}

std::vector<Part> tags_first(const Api& api, std::vector<Part> parts) {
  for (std::size_t at = 0; at < parts.size(); ++at) {
    const auto* tagged = std::get_if<meaning::TaggedUnion>(&api.role(parts[at].path).meaning);
    if (tagged == nullptr) continue;
    const auto place = parts.begin() + static_cast<std::ptrdiff_t>(at);
    const auto tag = std::find_if(place, parts.end(), [&](const Part& part) { return part.name == tagged->tag; });
    if (tag != parts.end()) std::rotate(place, tag, tag + 1);
  }
  return parts;
}

const Part* find_part(const std::vector<Part>& parts, const std::string& name) {
  for (const Part& part : parts) {
    if (part.name == name) return &part;
  }
  return nullptr;
}

const meaning::TaggedUnion* union_of(const Api& api, const Part& part, const std::vector<Part>& parts) {
  for (const Part& other : parts) {
    const auto* tagged = std::get_if<meaning::TaggedUnion>(&api.role(other.path).meaning);
    if (tagged == nullptr) continue;
    for (const auto& [member, enumerator] : tagged->members) {
      if (member == part.name) return tagged;
    }
  }
  return nullptr;
}

std::string documentation_of(const Api& api, const c::Function& function) {
  const std::string& own = api.functions.at(function.name).documentation;
  return own.empty() ? function.documentation.text : own;
}

std::vector<const c::Function*> methods_of(const Api& api) {
  auto functions = c::all<c::Function>(api.header);
  std::erase_if(functions, [&](const c::Function* function) { return !api.functions.at(function->name).is_method; });
  return functions;
}

bool makes_handle(const Api& api, const c::Function& function) {
  const auto does = [&](const std::string& path) {
    return std::holds_alternative<meaning::CreatesHandle>(api.role(path).meaning);
  };
  const auto parts = parts_of(api, function);
  return does(function.name + ".return") ||
         std::any_of(parts.begin(), parts.end(), [&](const Part& part) { return does(part.path); });
}

const c::Function* creating_function(const Api& api) {
  for (const c::Function* function : c::all<c::Function>(api.header)) {
    if (makes_handle(api, *function)) return function;
  }
  return nullptr;
}

std::vector<const Stream*> streams_of(const Api& api, const c::Function& function) {
  std::vector<const Stream*> found;
  const auto parts = parts_of(api, function);
  const bool takes_userdata = std::any_of(parts.begin(), parts.end(), [&](const Part& part) {
    return std::holds_alternative<meaning::StreamUserdata>(api.role(part.path).meaning);
  });
  if (!takes_userdata) return found;
  add_streams(api, parts, found);
  const c::Function* const creating = creating_function(api);
  if (found.empty() && creating != nullptr) add_streams(api, parts_of(api, *creating), found);
  return found;
}

}  // namespace bindgen
