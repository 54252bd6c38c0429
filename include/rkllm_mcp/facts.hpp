// What can be asked for by name: constants, enumerators, enums, structs, callbacks and handle types. Generated code
// lists them as data; the answer is made when somebody asks.
#pragma once

#include <rkllm_mcp/json.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

namespace rkllm_mcp {

// A number or a text.
struct ConstantFact {
  std::variant<std::int64_t, std::uint64_t, double, std::string_view> value;
};

// An enum, whose enumerators can be asked for, too.
struct EnumFact {
  Json (*enumerators)();  // [{"name","value"}]
};

// A field of a struct. The fields of a struct or union that is declared in place follow it, one level deeper.
struct FieldFact {
  std::string_view name;  // empty for an anonymous union
  std::string_view type;  // as C spells it
  std::size_t offset;     // from the start of the outermost struct, in bytes
  std::size_t size;
  unsigned depth = 0;
};

struct RecordFact {
  std::string_view kind;  // "struct" or "union"
  std::size_t size;
  std::size_t align;
  std::span<const FieldFact> fields;
};

struct DeclarationFact {
  std::string_view kind;  // "callback" or "handle"
  std::string_view declaration;
};

struct Fact {
  std::string_view name;
  std::variant<ConstantFact, EnumFact, RecordFact, DeclarationFact> what;
};

// The fact about an enum that generated code gives a function names_of().
template <class E>
constexpr EnumFact enum_fact() {
  return {[] {
    Json list = Json::array();
    for (const auto& each : names_of(E{})) {
      list.push_back({{"name", each.name}, {"value", static_cast<std::int64_t>(each.value)}});
    }
    return list;
  }};
}

// Takes the fields of this depth off the front of `fields`, with the fields inside them, and returns them as JSON.
inline Json take_fields(std::span<const FieldFact>& fields, unsigned depth) {
  Json list = Json::array();
  while (!fields.empty() && fields.front().depth == depth) {
    const FieldFact& field = fields.front();
    fields = fields.subspan(1);
    Json entry = Json::object();
    if (!field.name.empty()) entry["name"] = field.name;
    entry["type"] = field.type;
    entry["offset"] = field.offset;
    entry["size"] = field.size;
    if (!fields.empty() && fields.front().depth > depth) entry["fields"] = take_fields(fields, depth + 1);
    list.push_back(std::move(entry));
  }
  return list;
}

// The fact as JSON: {"name","value"} of a constant; of others {"name","kind",...} with enumerators, fields or
// declaration.
inline Json answer_of(const Fact& fact) {
  struct Answer {
    std::string_view name;

    Json operator()(const ConstantFact& constant) const {
      return {{"name", name}, {"value", std::visit([](const auto& value) { return Json(value); }, constant.value)}};
    }
    Json operator()(const EnumFact& entity) const {
      return {{"name", name}, {"kind", "enum"}, {"enumerators", entity.enumerators()}};
    }
    Json operator()(const RecordFact& record) const {
      std::span<const FieldFact> fields = record.fields;
      return {{"name", name},
              {"kind", record.kind},
              {"size", record.size},
              {"align", record.align},
              {"fields", take_fields(fields, 0)}};
    }
    Json operator()(const DeclarationFact& declared) const {
      return {{"name", name}, {"kind", declared.kind}, {"declaration", declared.declaration}};
    }
  };
  return std::visit(Answer{fact.name}, fact.what);
}

// The fact of this name as JSON, or {"name","value","enum"} of an enumerator of this name; nothing if there is neither.
inline std::optional<Json> answer(std::span<const Fact> facts, std::string_view name) {
  for (const Fact& fact : facts) {
    if (fact.name == name) return answer_of(fact);
    const auto* entity = std::get_if<EnumFact>(&fact.what);
    if (entity == nullptr) continue;
    for (const Json& each : entity->enumerators()) {
      if (each.at("name") == name) return Json{{"name", name}, {"value", each.at("value")}, {"enum", fact.name}};
    }
  }
  return std::nullopt;
}

}  // namespace rkllm_mcp
