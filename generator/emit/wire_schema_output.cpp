#include "emit/method_schema.hpp"
#include "emit/parts.hpp"

#include <algorithm>
#include <utility>

namespace bindgen {
namespace {

using c::TypeKind;

class OutputSchema {
 public:
  explicit OutputSchema(const Api& api) : api_(api) {}

  Json of(const c::Function& function) const {
    if (const Stream* stream = stream_of(api_, function)) return stream_result(*stream);
    const Role& role = api_.role(function.name + ".return");
    const std::string& documentation = role.documentation.empty() ? function.documentation.returns : role.documentation;
    Json schema = empty_object_schema();
    if (function.returns.kind == TypeKind::kRecord && std::holds_alternative<meaning::Value>(role.meaning)) {
      const c::Record* record = c::find<c::Record>(api_.header, function.returns.name);
      schema = object_of({record->name, record->name, record});
    } else if (const auto* predicate = std::get_if<meaning::Predicate>(&role.meaning)) {
      add_property(schema, predicate->name, {{"type", "boolean"}}, "", true);
      add_property(schema, "status", {{"enum", {predicate->no, predicate->yes}}}, documentation, true);
    } else if (std::holds_alternative<meaning::Status>(role.meaning)) {
      add_property(schema, "status", {{"const", 0}}, "0: success. Everything else is an error.", true);
    } else if (std::holds_alternative<meaning::Value>(role.meaning)) {
      add_property(schema, "value", scalar(function.returns), documentation, true);
    } else if (std::holds_alternative<meaning::Text>(role.meaning)) {
      add_property(schema, "value", {{"type", {"string", "null"}}}, documentation, true);
    } else if (std::holds_alternative<meaning::Object>(role.meaning)) {
      const std::string& name = function.returns.target.front().name;
      Json object = object_of({name, name, c::find<c::Record>(api_.header, name)});
      allow_null(object);
      add_property(schema, "value", std::move(object), documentation, true);
    } else if (std::holds_alternative<meaning::CreatesHandle>(role.meaning)) {
      add_property(schema, "handle", {{"type", "string"}}, "The new handle.", true);
    }
    for (const Part& part : parts_of(api_, function)) add_out_value(schema, part);
    return schema;
  }

 private:
  Json object_of(const NamedRecord& record) const {
    Json schema = empty_object_schema();
    const auto parts = parts_of(api_, *record.record, record.path);
    for (const Part& part : parts) {
      auto value = value_of(part);
      if (!value) continue;
      if (part.is_deprecated) (*value)["deprecated"] = true;
      const std::string& group = api_.role(part.path).group;
      if (!group.empty() && !schema["properties"].contains(group))
        add_property(schema, group, empty_object_schema(), api_.groups.at(group), false);
      add_property(group.empty() ? schema : schema["properties"][group], part.name, std::move(*value),
                   part.documentation, is_always_told(part, parts));
    }
    return schema;
  }

  // Three kinds of parts may be missing in an output: a member of a union (told only if it is chosen), a member that
  // counts such a one, and a struct that is in use only if a pointer in it is set.
  bool is_always_told(const Part& part, const std::vector<Part>& parts) const {
    const Meaning& meaning = api_.role(part.path).meaning;
    const auto* value = std::get_if<meaning::Value>(&meaning);
    const auto* count = std::get_if<meaning::Count>(&meaning);
    const Part* told_with = count != nullptr ? find_part(parts, count->array) : &part;
    return union_of(api_, *told_with, parts) == nullptr && (value == nullptr || value->present_if.empty());
  }

  std::optional<Json> value_of(const Part& part) const {
    std::optional<Json> none;
    return match(
        api_.role(part.path).meaning,  //
        [&](const meaning::Value&) -> std::optional<Json> {
          return part.type->kind == TypeKind::kRecord ? object_of(record_of(api_, part)) : scalar(*part.type);
        },
        [&](const meaning::Text&) -> std::optional<Json> {
          if (part.type->kind == TypeKind::kArray) return Json{{"type", "string"}};
          return Json{{"type", {"string", "null"}}};
        },
        [&](const meaning::Object&) -> std::optional<Json> {
          Json schema = object_of(record_of(api_, part));
          allow_null(schema);
          return schema;
        },
        [&](const meaning::Array& array) -> std::optional<Json> {
          // How long these are, C does not say.
          const bool is_unknown =
              std::holds_alternative<MultipleOf>(array.length) || std::holds_alternative<SameLengthAs>(array.length);
          if (is_unknown) return none;
          Json schema = elements_schema(part, *part.type);
          if (part.type->kind != TypeKind::kArray) allow_null(schema);
          return schema;
        },
        [&](const meaning::Count&) -> std::optional<Json> { return scalar(*part.type); },
        [&](const meaning::CpuMask&) -> std::optional<Json> { return scalar(*part.type); },
        [&](const meaning::CpuCount&) -> std::optional<Json> { return scalar(*part.type); },
        [&](const meaning::Batch&) -> std::optional<Json> {
          return Json{{"type", {"array", "null"}}, {"items", object_of(record_of(api_, part))}};
        },
        [&](const meaning::TaggedUnion&) { return none; },     //
        [&](const meaning::UsesHandle&) { return none; },      //
        [&](const meaning::CreatesHandle&) { return none; },   //
        [&](const meaning::DestroysHandle&) { return none; },  //
        [&](const meaning::OutArray&) { return none; },        //
        [&](const meaning::OutValue&) { return none; },        //
        [&](const meaning::OutRoom&) { return none; },         //
        [&](const meaning::InOut&) { return none; },           //
        [&](const meaning::OutChosen&) { return none; },       //
        [&](const meaning::SizeOf&) { return none; },          //
        [&](const meaning::Callbacks&) { return none; },       //
        [&](const meaning::StreamCallback&) { return none; },  //
        [&](const meaning::StreamUserdata&) { return none; },  //
        [&](const meaning::Unused&) { return none; },          //
        [&](const meaning::Status&) { return none; },          //
        [&](const meaning::Predicate&) { return none; });
  }

  // What the elements of an array are, which may be arrays in place.
  Json elements_schema(const Part& part, const c::Type& type) const {
    const c::Type& element = type.target.front();
    if (can_be_packed(element)) return packed_array_schema(element, true);
    Json items{{"type", "integer"}};
    if (element.kind == TypeKind::kDouble || element.kind == TypeKind::kBool || element.kind == TypeKind::kEnum)
      items = scalar(element);
    if (element.kind == TypeKind::kArray) items = elements_schema(part, element);
    if (is_text_in_place(element)) items = {{"type", "string"}};
    if (element.kind == TypeKind::kRecord) items = object_of(record_of(api_, part));
    if (element.kind == TypeKind::kPointer) items = {{"type", {"string", "null"}}};
    return {{"type", "array"}, {"items", std::move(items)}};
  }

  Json scalar(const c::Type& type) const {
    if (type.kind == TypeKind::kPointer) return {{"type", {"string", "null"}}};  // a text that the library keeps
    if (type.kind == TypeKind::kBool) return {{"type", "boolean"}};
    if (is_floating(type)) return {{"type", {"number", "null"}}};  // null: what is no finite number
    if (type.kind == TypeKind::kEnum) return returned_enum_schema(api_, type.name);
    return {{"type", "integer"}};
  }

  void add_out_value(Json& schema, const Part& part) const {
    const Meaning& meaning = api_.role(part.path).meaning;
    if (std::holds_alternative<meaning::CreatesHandle>(meaning)) {
      add_property(schema, part.name, {{"type", "string"}}, "The new handle, e.g. \"llm-1\".", true);
    }
    if (std::holds_alternative<meaning::OutValue>(meaning)) {
      const c::Type& held = part.type->target.front();
      add_property(schema, part.name, held.kind == TypeKind::kRecord ? object_of(record_of(api_, part)) : scalar(held),
                   part.documentation, true);
    }
    const auto* object = std::get_if<meaning::Object>(&meaning);
    const auto* array = std::get_if<meaning::Array>(&meaning);
    if (is_left(meaning) && (object != nullptr || array != nullptr)) {
      Json value = object != nullptr ? object_of(record_of(api_, part)) : elements_schema(part, *part.type);
      if ((object != nullptr ? object->presence : array->presence) == Presence::kNullable) allow_null(value);
      add_property(schema, part.name, std::move(value), part.documentation, true);
    }
    if (std::holds_alternative<meaning::InOut>(meaning))
      add_property(schema, part.name, scalar(part.type->target.front()), part.documentation, true);
    if (const auto* chosen = std::get_if<meaning::OutChosen>(&meaning)) {
      Json any = Json::array();
      for (const auto& [enumerator, name] : chosen->structs) {
        const Json one = object_of({name, name, c::find<c::Record>(api_.header, name)});
        if (std::find(any.begin(), any.end(), one) == any.end()) any.push_back(one);
      }
      add_property(schema, part.name, {{"type", "object"}, {"anyOf", std::move(any)}}, part.documentation, true);
    }
    const auto* room = std::get_if<meaning::OutRoom>(&meaning);
    const bool is_room = room != nullptr;
    if (!is_room && !std::holds_alternative<meaning::OutArray>(meaning)) return;
    const c::Type& element = part.type->target.front();
    if (element.kind == TypeKind::kCharacter)
      return add_property(schema, part.name, {{"type", "string"}}, part.documentation, true);
    Json values = elements_schema(part, *part.type);
    if (!can_be_packed(element) && (!is_room || room->filled.empty())) values["minItems"] = 1;
    add_property(schema, part.name, std::move(values), part.documentation, true);
  }

  // What is told when a run has ended: the text as a whole, how it ended, and what came with that.
  Json stream_result(const Stream& stream) const {
    const c::Record* result = c::find<c::Record>(api_.header, stream.result);
    const auto parts = parts_of(api_, *result, result->name);
    Json ends = Json::array();
    for (const auto& [state, event] : stream.states) {
      if (event != StreamEvent::kToken) ends.push_back(state);
    }
    Json schema = empty_object_schema();
    add_property(schema, "status", {{"const", 0}}, "0: success. Everything else is an error.", true);
    add_property(schema, "text", {{"type", "string"}}, "All text of the run; of the first input, if there are several.",
                 true);
    add_property(schema, "state", {{"enum", std::move(ends)}}, "How the run ended.", true);
    for (const std::string& value : stream.values) {
      const Part* part = find_part(parts, value);
      add_property(schema, value, object_of(record_of(api_, *part)), part->documentation, false);
    }
    for (const std::string& value : stream.unknown) {
      add_property(schema, value, {{"type", "null"}}, "This version of the runtime does not tell.", false);
    }
    add_property(schema, "aborted", {{"type", "boolean"}}, "True if the run was stopped on request.", false);
    add_property(schema, "token_ids", {{"type", "array"}, {"items", {{"type", "integer"}}}},
                 "The id of each token, if \"include\" asked for it.", false);
    add_property(schema, "texts", {{"type", "array"}, {"items", {{"type", "string"}}}},
                 "The text of each input, if there are several.", false);
    for (const StreamRows& rows : stream.rows) {
      const Part* part = find_part(parts, rows.field);
      add_property(schema, rows.field, object_of(record_of(api_, *part)), part->documentation, false);
    }
    return schema;
  }

  const Api& api_;
};

}  // namespace

Json output_schema(const Api& api, const c::Function& function) { return OutputSchema(api).of(function); }

}  // namespace bindgen
