#include "emit/method_schema.hpp"
#include "emit/parts.hpp"

#include <utility>

namespace bindgen {
namespace {

using c::TypeKind;

Json to_json(const Constant& constant) {
  return std::visit([](const auto& value) { return Json(value); }, constant);
}

// Builds the schema of the parameters of one function.
class InputSchema {
 public:
  InputSchema(const Api& api, Wording wording) : api_(api), wording_(wording) {}

  Json of(const c::Function& function) {
    Json schema = object_of(parts_of(api_, function), false);
    if (stream_of(api_, function) != nullptr) add_stream_options(schema);
    if (!definitions_.empty()) schema["$defs"] = definitions_;
    if (function.documentation.is_deprecated) schema["deprecated"] = true;
    return schema;
  }

 private:
  // `are_fields`: absent ones hold a default, which is told.
  Json object_of(const std::vector<Part>& parts, bool are_fields) {
    Json schema = empty_object_schema();
    for (const Part& part : parts) {
      const std::string& group = api_.role(part.path).group;
      if (!group.empty() && !schema["properties"].contains(group)) {
        add_property(schema, group, empty_object_schema(), api_.groups.at(group), false);
      }
      add_part(group.empty() ? schema : schema["properties"][group], part, parts, are_fields);
    }
    for (const Part& part : parts) add_conditions(schema, part, parts);
    return schema;
  }

  Json record(const Part& part) {
    const NamedRecord record = record_of(api_, part);
    return object_of(parts_of(api_, *record.record, record.path), true);
  }

  void add_part(Json& object, const Part& part, const std::vector<Part>& parts, bool are_fields) {
    const Role& role = api_.role(part.path);
    const auto add = [&](Json schema, bool is_required) {
      const bool is_member = union_of(api_, part, parts) != nullptr;  // then the tag decides
      add_property(object, part.name, std::move(schema), words_for(part), is_required && !is_member);
    };
    match(
        role.meaning,  //
        [&](const meaning::Value& value) { add_value(object, part, role, value, are_fields); },
        [&](const meaning::Text& text) {
          Json schema = text_schema(text);
          if (part.type->kind == TypeKind::kArray && text.one_of.empty()) schema["maxLength"] = part.type->count - 1;
          add(std::move(schema), text.presence == Presence::kRequired);
        },
        [&](const meaning::Object& pointer) {
          Json schema = record(part);
          if (pointer.presence == Presence::kNullable) allow_null(schema);
          add(std::move(schema), pointer.presence == Presence::kRequired);
        },
        [&](const meaning::Batch&) { add_batch(object, part); },
        [&](const meaning::Array& array) {
          if (!array.is_told_only) add(array_schema(part, array), array.presence == Presence::kRequired);
        },
        [&](const meaning::Count& count) {
          const auto& counted = api_.role(find_part(parts, count.array)->path).meaning;
          if (std::get<meaning::Array>(counted).is_told_only) return;
          const bool is_left_out = wording_ == Wording::kBrief && are_fields && !count.is_factor;
          if (!is_left_out) add(integer_schema(*part.type, 1.0), count.is_factor);
        },
        [&](const meaning::TaggedUnion&) {},  // conditions
        [&](const meaning::CpuMask&) { add(integer_schema(*part.type, 1.0, 255.0), false); },
        [&](const meaning::CpuCount&) {
          Json schema = integer_schema(*part.type, 1.0, 8.0);
          if (role.default_value) schema["default"] = to_json(*role.default_value);
          add(std::move(schema), false);
        },
        [&](const meaning::UsesHandle&) { add_handle(object, part); },
        [&](const meaning::DestroysHandle&) { add_handle(object, part); },
        [](const meaning::CreatesHandle&) {},  // the result
        [](const meaning::OutArray&) {},       // the result
        [](const meaning::OutValue&) {},       // the result
        [](const meaning::OutRoom&) {},        // the result
        [&](const meaning::InOut& in_out) {
          Json schema = integer_schema(part.type->target.front(), in_out.minimum, in_out.maximum);
          if (role.default_value) schema["default"] = to_json(*role.default_value);
          add(std::move(schema), !role.default_value);
        },
        [&](const meaning::OutChosen&) {
          add({{"type", "object"}}, false);
        },                                      // and conditions
        [](const meaning::SizeOf&) {},          // not on the wire
        [](const meaning::Callbacks&) {},       // not on the wire, as all that follow
        [](const meaning::StreamCallback&) {},  //
        [](const meaning::StreamUserdata&) {},  //
        [](const meaning::Unused&) {},          //
        [](const meaning::Status&) {},          //
        [](const meaning::Predicate&) {});
    if (part.is_deprecated && object["properties"].contains(part.name))
      object["properties"][part.name]["deprecated"] = true;
  }

  void add_value(Json& object, const Part& part, const Role& role, const meaning::Value& value, bool are_fields) {
    Json schema;
    std::string description = words_for(part);
    switch (part.type->kind) {
      case TypeKind::kBool: schema = {{"type", "boolean"}}; break;
      case TypeKind::kFloat:
      case TypeKind::kDouble: schema = number_schema(*part.type, value.minimum, value.maximum); break;
      case TypeKind::kRecord: schema = record(part); break;
      case TypeKind::kEnum:
        schema = enum_schema(api_, part.type->name);
        if (wording_ == Wording::kFull || part.brief == part.documentation) {
          description += (description.empty() ? "" : " ") + enum_documentation(api_, part.type->name);
        }
        break;
      case TypeKind::kVoid:
      case TypeKind::kCharacter:
      case TypeKind::kSigned:
      case TypeKind::kUnsigned:
      case TypeKind::kFunction:
      case TypeKind::kPointer:
      case TypeKind::kArray:
      case TypeKind::kOther: schema = integer_schema(*part.type, value.minimum, value.maximum); break;
    }
    if (value.is_flag) schema = {{"type", {"integer", "boolean"}}, {"minimum", 0}, {"maximum", 1}};
    const bool is_required = value.presence == Presence::kRequired;
    const bool is_known = role.wire_default || !role.default_is_unknown;
    if (!is_required && is_known && part.type->kind != TypeKind::kRecord && (are_fields || role.default_value))
      schema["default"] = default_of(part, role);
    add_property(object, part.name, std::move(schema), description, is_required);
  }

  // What the field holds when it is absent: zero, unless the overlay says more.
  Json default_of(const Part& part, const Role& role) const {
    if (role.wire_default) return to_json(*role.wire_default);
    if (role.default_value) return to_json(*role.default_value);
    if (part.type->kind == TypeKind::kBool) return false;
    if (part.type->kind != TypeKind::kEnum) return 0;
    for (const c::Enumerator& enumerator : c::find<c::Enum>(api_.header, part.type->name)->enumerators) {
      if (enumerator.value == 0) return enumerator.name;
    }
    return 0;
  }

  static Json text_schema(const meaning::Text& text) {
    Json schema{{"type", "string"}};
    if (text.presence == Presence::kNullable) schema["type"] = {"string", "null"};
    if (!text.one_of.empty()) {
      schema["enum"] = text.one_of;
      if (text.presence == Presence::kNullable) schema["enum"].push_back(nullptr);
      return schema;
    }
    if (text.min_length != 0) schema["minLength"] = text.min_length;
    schema["pattern"] = kNoNul;
    if (text.is_json) {
      schema["type"] = {"string", "array", "object"};
      schema["pattern"] = "^[ \\t\\r\\n]*[\\[{][^\\u0000]*$";
    }
    return schema;
  }

  // What the elements of an array are, which may be arrays in place.
  Json elements_schema(const Part& part, const c::Type& type, const meaning::Array& array) {
    const c::Type& element = type.target.front();
    if (can_be_packed(element)) return packed_array_schema(element, false);
    std::optional<double> minimum;
    if (array.minimum) minimum = static_cast<double>(*array.minimum);
    Json items;
    if (is_text_in_place(element)) {
      items = {{"type", "string"}, {"pattern", kNoNul}, {"maxLength", element.count - 1}};
    } else if (element.kind == TypeKind::kArray) {
      items = elements_schema(part, element, array);
      items["minItems"] = items["maxItems"] = element.count;
    } else if (element.kind == TypeKind::kRecord) {
      items = record(part);
    } else if (element.kind == TypeKind::kBool) {
      items = {{"type", "boolean"}};
    } else if (element.kind == TypeKind::kDouble) {
      items = {{"type", "number"}};
    } else if (element.kind == TypeKind::kEnum) {
      items = enum_schema(api_, element.name);
    } else if (element.kind == TypeKind::kPointer) {
      items = {{"type", "string"}, {"pattern", kNoNul}};
      // A place that is left empty, as the library may leave it.
      const bool is_whole_in_place = type.kind == TypeKind::kArray && std::holds_alternative<Whole>(array.length);
      if (is_whole_in_place) items["type"] = {"string", "null"};
    } else {
      items = integer_schema(element, minimum);
    }
    return {{"type", "array"}, {"items", std::move(items)}, {"minItems", 1}};
  }

  Json array_schema(const Part& part, const meaning::Array& array) {
    const c::Type type = array_type(part, array);
    Json schema = elements_schema(part, type, array);
    if (type.kind == TypeKind::kArray) {
      schema["maxItems"] = type.count;
      if (std::holds_alternative<Whole>(array.length)) schema["minItems"] = type.count;
    }
    if (array.presence == Presence::kNullable) allow_null(schema);
    return schema;
  }

  void add_batch(Json& object, const Part& part) {
    const std::string name = part.type->target.front().name;
    definitions_[name] = record(part);
    const Json reference{{"$ref", "#/$defs/" + name}};
    add_property(object, part.name,
                 {{"oneOf", {reference, {{"type", "array"}, {"items", reference}, {"minItems", 1}}}}}, words_for(part),
                 true);
  }

  void add_handle(Json& object, const Part& part) const {
    const c::Function* creator = creating_function(api_);
    const std::string by = creator != nullptr ? ", as " + creator->name + " returned it" : "";
    add_property(object, part.name, {{"type", "string"}, {"pattern", kNoNul}},
                 words("The handle" + by + ", e.g. \"llm-1\". May be left out while exactly one handle exists.",
                       "e.g. \"llm-1\"; may be left out while exactly one exists."),
                 false);
  }

  // Rules that connect several properties.
  void add_conditions(Json& schema, const Part& part, const std::vector<Part>& parts) {
    const Meaning& meaning = api_.role(part.path).meaning;
    if (const auto* chosen = std::get_if<meaning::OutChosen>(&meaning)) {
      const Part* tag = find_part(parts, chosen->tag);
      for (const auto& [enumerator, name] : chosen->structs) {
        const auto* record = c::find<c::Record>(api_.header, name);
        const Json named{{"enum", {enumerator, value_of(*tag, enumerator)}}};
        schema["allOf"].push_back(
            {{"if", {{"properties", {{tag->name, named}}}}},
             {"then", {{"properties", {{part.name, object_of(parts_of(api_, *record, name), true)}}}}}});
      }
    }
    if (const auto* tagged = std::get_if<meaning::TaggedUnion>(&meaning)) {
      const Part* tag = find_part(parts, tagged->tag);
      for (const auto& [member, enumerator] : tagged->members) {
        schema["allOf"].push_back(union_condition(*tag, member, enumerator));
      }
    }
    if (const auto* array = std::get_if<meaning::Array>(&meaning); array != nullptr && !array->together_with.empty()) {
      const std::string& other = array->together_with;
      const Json absent{{"properties", {{part.name, {{"type", "null"}}}, {other, {{"type", "null"}}}}}};
      const Json present{
          {"properties", {{part.name, given_array(part)}, {other, given_array(*find_part(parts, other))}}},
          {"required", {part.name, other}}};
      (schema.contains("anyOf") ? schema["allOf"].emplace_back() : schema)["anyOf"] = {absent, present};
    }
  }

  // Anything but null.
  static Json given_array(const Part& part) {
    if (!can_be_packed(part.type->target.front())) return {{"type", "array"}};
    return {{"type", {"array", "object"}}};
  }

  std::int64_t value_of(const Part& tag, const std::string& enumerator) const {
    for (const c::Enumerator& known : c::find<c::Enum>(api_.header, tag.type->name)->enumerators) {
      if (known.name == enumerator) return known.value;
    }
    return 0;
  }

  // The member is present exactly if the tag names it. An absent tag is its default.
  Json union_condition(const Part& tag, const std::string& member, const std::string& enumerator) const {
    const std::int64_t value = value_of(tag, enumerator);
    Json condition{{"properties", {{tag.name, {{"enum", {enumerator, value}}}}}}};
    if (default_of(tag, api_.role(tag.path)) != Json(enumerator)) condition["required"] = Json::array({tag.name});
    return {{"if", std::move(condition)},
            {"then", {{"required", Json::array({member})}}},
            {"else", {{"properties", {{member, {{"not", Json::object()}}}}}}}};
  }

  void add_stream_options(Json& schema) const {
    const auto names = [](std::initializer_list<const char*> all) {
      return Json{{"type", "string"}, {"enum", Json(all)}};
    };
    const auto add = [&](const char* name, Json option, const char* otherwise, const std::string& description) {
      if (otherwise != nullptr) option["default"] = otherwise;
      add_property(schema, name, std::move(option), description, false);
    };
    add("include", {{"type", "array"}, {"items", names({"token_id", "queue_position"})}}, nullptr,
        words("What the answer shall hold besides the text: \"token_id\" adds the id of each token, \"queue_position\" "
              "tells how many calls go before this one as long as it waits.",
              "What to tell besides the text."));
    add("encoding", names({"json", "base64"}), "json",
        words("How arrays of floats appear in the answer: \"json\": arrays of numbers; \"base64\": "
              "{\"base64\",\"dtype\":\"float32\"}, little endian.",
              "Form of arrays of floats in the answer."));
    add("progress_message", names({"status", "delta", "text"}), "status",
        words("What the message of a progress notification holds: \"status\": counts and speed, at most 5 times a "
              "second; \"delta\": each new piece of text; \"text\": all text so far.",
              "What progress tells: counts and speed, new text, or all text."));
  }

  const std::string& words_for(const Part& part) const {
    return wording_ == Wording::kBrief ? part.brief : part.documentation;
  }
  const std::string& words(const std::string& full, const std::string& brief) const {
    return wording_ == Wording::kBrief ? brief : full;
  }

  const Api& api_;
  const Wording wording_;
  Json definitions_;
};

}  // namespace

Json input_schema(const Api& api, const c::Function& function, Wording wording) {
  return InputSchema(api, wording).of(function);
}

}  // namespace bindgen
