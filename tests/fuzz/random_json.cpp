#include "fuzz/random_json.hpp"

#include <algorithm>
#include <cstdint>
#include <string>

namespace rkllm_mcp::test {
namespace {

const Json kStrings = Json::array({"", "x", "llm-1", "RKLLM_INPUT_TOKEN", "AACAPw==", "[]", "{\"a\":[1]}", "[[[",
                                   std::string("a\0b", 3), "\xE2\x82\xAC", std::string(5000, 'y')});
const Json kNothing = Json::object();
// Fields that no version has, or not every one.
const Json kStrangers = Json::array({"surprise", "video", "img_start", "role", "n_batch", "sampling_params"});

// A member of a schema, or nothing; not copied, for schemas are large.
const Json& part_of(const Json& schema, const char* name) {
  const auto found = schema.find(name);
  return found == schema.end() ? kNothing : *found;
}

}  // namespace

Json RandomJson::like(const Json& schema, const Json& root) {
  if (one_in(12)) return anything(3);
  if (schema.contains("$ref")) return like(root.at("$defs").at(schema.at("$ref").get<std::string>().substr(8)), root);
  if (schema.contains("oneOf")) return like(pick(schema.at("oneOf")), root);
  if (schema.contains("enum")) return pick(schema.at("enum"));
  if (schema.contains("const")) return schema.at("const");
  Json type = schema.value("type", Json("object"));
  if (type.is_array()) type = pick(type);
  if (type == "object") return object_like(schema, root);
  if (type == "array") {
    Json array = Json::array();
    const std::size_t size = one_in(4) ? number_below(9) : 2;
    for (std::size_t i = 0; i < size; ++i) array.push_back(like(part_of(schema, "items"), root));
    return array;
  }
  if (type == "string") return pick(kStrings);
  if (type == "boolean") return one_in(2);
  if (type == "integer") return pick(Json{0, 1, 2, 4, 8, 99, 100, -1, 4294967296, 1.0});
  if (type == "number") return pick(Json{0, 0.5, 1, 2.5, -1, 1e39, 1e-50});
  return nullptr;
}

Json RandomJson::object_like(const Json& schema, const Json& root) {
  Json object = Json::object();
  const Json& required = part_of(schema, "required");
  for (const auto& [name, property] : part_of(schema, "properties").items()) {
    const bool is_required = std::find(required.begin(), required.end(), name) != required.end();
    if (is_required ? !one_in(15) : one_in(2)) object[name] = like(property, root);
  }
  for (const Json& rule : part_of(schema, "allOf")) obey(rule, schema, root, object);
  if (one_in(30)) object[pick(kStrangers).get<std::string>()] = anything(2);
  return object;
}

// Mostly keeps {"if":{"properties":{tag:{"enum":[...]}}},"then":{"required":[member]},"else":...}.
void RandomJson::obey(const Json& rule, const Json& schema, const Json& root, Json& object) {
  const Json& condition = rule.at("if");
  const std::string tag = condition.at("properties").begin().key();
  const std::string member = rule.at("then").at("required").at(0);
  const Json& values = condition.at("properties").at(tag).at("enum");
  const bool is_chosen = object.contains(tag) ? std::find(values.begin(), values.end(), object[tag]) != values.end()
                                              : !condition.contains("required");
  if (one_in(15)) return;
  if (!is_chosen) object.erase(member);
  if (is_chosen && !object.contains(member)) object[member] = like(schema.at("properties").at(member), root);
}

Json RandomJson::near(const Json& sample) {
  if (one_in(25)) return anything(3);
  if (sample.is_array()) {
    Json array = Json::array();
    for (const Json& element : sample) array.push_back(near(element));
    return array;
  }
  if (!sample.is_object()) return sample;
  Json object = Json::object();
  for (const auto& [name, member] : sample.items()) {
    if (!one_in(25)) object[name] = near(member);
  }
  if (one_in(30)) object[pick(kStrangers).get<std::string>()] = anything(2);
  return object;
}

Json RandomJson::anything(int depth) {
  switch (number_below(depth > 0 ? 9 : 7)) {
    case 0: return nullptr;
    case 1: return one_in(2);
    case 2: return static_cast<std::int64_t>(engine_());
    case 3: return std::uint64_t{engine_()} << 32U;
    case 4: return pick(Json{0.5, 1e300, -0.0, 1e-320});
    case 5: return pick(kStrings);
    case 6: return Json{{"base64", pick(kStrings)}, {"dtype", "float32"}};
    case 7: return Json::array({anything(depth - 1), anything(depth - 1)});
    default: return Json{{pick(kStrings).get<std::string>(), anything(depth - 1)}};
  }
}

}  // namespace rkllm_mcp::test
