// Random JSON into every method: a reply or an RpcError, nothing else. The seed is fixed, so a failure comes again.
#include "fake_library.hpp"
#include "support/catch.hpp"

#include <algorithm>
#include <map>
#include <random>

using namespace rkllm_mcp;
using rkllm_mcp::test::Caller;
using rkllm_mcp::test::FakeLibrary;

namespace {

class RandomJson {
 public:
  // A document that looks like the schema in most places, and is anything in some.
  Json like(const Json& schema, const Json& root) {
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
      for (std::size_t i = 0; i < size; ++i) array.push_back(like(schema.value("items", Json::object()), root));
      return array;
    }
    if (type == "string") return pick(strings_);
    if (type == "boolean") return one_in(2);
    if (type == "integer") return pick(Json{0, 1, 2, 4, 8, 99, 100, -1, 4294967296, 1.0});
    if (type == "number") return pick(Json{0, 0.5, 1, 2.5, -1, 1e39, 1e-50});
    return nullptr;
  }

  Json anything(int depth) {
    switch (number_below(depth > 0 ? 9 : 7)) {
      case 0: return nullptr;
      case 1: return one_in(2);
      case 2: return static_cast<std::int64_t>(engine_());
      case 3: return std::uint64_t{engine_()} << 32U;
      case 4: return pick(Json{0.5, 1e300, -0.0, 1e-320});
      case 5: return pick(strings_);
      case 6: return Json{{"base64", pick(strings_)}, {"dtype", "float32"}};
      case 7: return Json::array({anything(depth - 1), anything(depth - 1)});
      default: return Json{{pick(strings_).get<std::string>(), anything(depth - 1)}};
    }
  }

  bool one_in(std::size_t n) { return number_below(n) == 0; }

 private:
  Json object_like(const Json& schema, const Json& root) {
    Json object = Json::object();
    const Json properties = schema.value("properties", Json::object());
    for (const auto& [name, property] : properties.items()) {
      const Json required = schema.value("required", Json::array());
      const bool is_required = std::find(required.begin(), required.end(), name) != required.end();
      if (is_required ? !one_in(15) : one_in(2)) object[name] = like(property, root);
    }
    for (const Json& rule : schema.value("allOf", Json::array())) obey(rule, schema, root, object);
    if (one_in(30)) object["surprise"] = anything(2);
    return object;
  }

  // Mostly keeps {"if":{"properties":{tag:{"enum":[...]}}},"then":{"required":[member]},"else":...}.
  void obey(const Json& rule, const Json& schema, const Json& root, Json& object) {
    const Json& condition = rule.at("if");
    const std::string tag = condition.at("properties").begin().key();
    const std::string member = rule.at("then").at("required").at(0);
    const Json values = condition.at("properties").at(tag).at("enum");
    const bool is_chosen = object.contains(tag) ? std::find(values.begin(), values.end(), object[tag]) != values.end()
                                                : !condition.contains("required");
    if (one_in(15)) return;
    if (!is_chosen) object.erase(member);
    if (is_chosen && !object.contains(member)) object[member] = like(schema.at("properties").at(member), root);
  }

  Json pick(const Json& choices) { return choices.at(number_below(choices.size())); }
  std::size_t number_below(std::size_t end) { return engine_() % end; }

  std::mt19937 engine_{20240229};
  Json strings_ = Json::array({"", "x", "llm-1", "RKLLM_INPUT_TOKEN", "AACAPw==", "[]", "{\"a\":[1]}", "[[[",
                               std::string("a\0b", 3), "\xE2\x82\xAC", std::string(5000, 'y')});
};

}  // namespace

TEST_CASE("whatever is sent, a method answers or refuses") {
  FakeLibrary library;
  Caller caller(library);
  RandomJson random;
  std::map<std::string_view, int> answered;
  for (const Method& method : v1_3_0::kAbiSet.methods) {
    const Json schema = Json::parse(method.input_schema);
    for (int i = 0; i < 1000; ++i) {
      caller.handle.native = &library;
      caller.handle.session = {{"is_async", 1}, {"use_cross_attn", 1}, {"n_batch", random.one_in(4) ? 2 : 1}};
      if (!random.one_in(3)) caller.handle.session["vocab_size"] = 100;
      if (!random.one_in(3)) caller.handle.session["embd_size"] = 2;
      library.status = random.one_in(20) ? -1 : 0;
      const Json params = random.one_in(20) ? random.anything(4) : random.like(schema, schema);
      if (caller.complaint(std::string(method.name), params) == "no complaint") ++answered[method.name];
    }
    INFO(method.name);
    CHECK(answered[method.name] > 0);  // else the generator of documents has gone blind
  }
}
