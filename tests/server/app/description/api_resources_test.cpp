#include "app/description/api_resources.hpp"

#include "app/description/api_description.hpp"
#include "library/loaded_library.hpp"
#include "support/catch.hpp"

#include <array>
#include <cstddef>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

using namespace rkllm_mcp;
using namespace rkllm_mcp::test;

namespace {

std::string address_of(std::string_view plural, const std::string& name) {
  return "rkllm://api/" + std::string(plural) + "/" + name;
}

// The documents of one ABI set.
struct ApiResources {
  explicit ApiResources(const AbiSet& set) : abi(set), document(api_document(set.version)) {
    add_api_resources(catalogue, abi, document);
  }

  const mcp::ResourceTemplate& of(std::string_view plural) const {
    for (const mcp::ResourceTemplate& each : catalogue.templates) {
      if (each.uri_template == address_of(plural, "{name}")) return each;
    }
    throw std::runtime_error("no template for " + std::string(plural));
  }
  std::vector<std::string> names_of(std::string_view plural) const {
    const auto& variables = of(plural).variables;
    REQUIRE(variables.size() == 1);
    CHECK(variables[0].first == "name");
    return variables[0].second("", Json::object());
  }

  const AbiSet& abi;
  const std::string_view document;
  mcp::Catalogue catalogue;
};

constexpr std::array<std::string_view, 4> kPlurals{"functions", "structs", "enums", "constants"};

}  // namespace

TEST_CASE("the bound API is one document, as it was written, of the size that is said") {
  for (const AbiSet* const abi : abi_sets()) {
    const ApiResources api(*abi);
    REQUIRE(api.catalogue.resources.size() == 1);
    const mcp::Resource& whole = api.catalogue.resources[0];
    CHECK(whole.uri == "rkllm://api");
    CHECK(whole.title == "RKLLM API " + std::string(abi->version));
    CHECK(whole.mime_type == "application/json");
    CHECK(whole.read().text == api.document);
    CHECK(whole.size == api.document.size());
  }
}

TEST_CASE("every entry of the API's document has an address, which completion knows") {
  const ApiResources api(*abi_sets().back());
  const Json all = Json::parse(api.document);
  CHECK(api.catalogue.templates.size() == kPlurals.size());
  for (const std::string_view plural : kPlurals) {
    const auto names = api.names_of(plural);
    REQUIRE(names.size() == all[std::string(plural)].size());
    REQUIRE_FALSE(names.empty());
    for (const std::size_t at : {std::size_t{0}, names.size() - 1}) {
      const auto text = api.of(plural).read(address_of(plural, names[at]));
      REQUIRE(text);
      Json entry = Json::parse(text->text);
      if (plural == "functions") {
        entry.erase("inputSchema");
        entry.erase("outputSchema");
      }
      CHECK(entry.dump() == all[std::string(plural)][at].dump());
    }
  }
}

TEST_CASE("a function's document has the whole schemas of its parameters and its result") {
  const ApiResources api(*abi_sets().back());
  const auto text = api.of("functions").read("rkllm://api/functions/rkllm_init");
  REQUIRE(text);
  const Json init = Json::parse(text->text);
  const Method* const method = find_method(api.abi.methods, "rkllm_init");
  REQUIRE(method != nullptr);
  CHECK(init["inputSchema"] == Json::parse(method->input_schema));
  CHECK(init["inputSchema"]["properties"]["param"]["properties"].contains("model_path"));
  CHECK(init["outputSchema"]["properties"].contains("handle"));
  CHECK_FALSE(Json::parse(api.of("structs").read("rkllm://api/structs/RKLLMParam")->text).contains("inputSchema"));
}

TEST_CASE("an address of the API that nothing has is no document") {
  const ApiResources api(*abi_sets().back());
  const std::string beginning = address_of("functions", "");
  const std::string name = "rkllm_init";
  REQUIRE(api.of("functions").read(beginning + name));
  const std::vector<std::string> all_wrong{beginning,
                                           beginning + name + "/",
                                           beginning + " " + name,
                                           beginning + name + '\0',
                                           "rkllm://api/" + name,
                                           "rkllm://api",
                                           "",
                                           "xx" + beginning + name,
                                           beginning + "../" + name,
                                           beginning + "\xFF\"",
                                           beginning + std::string(100'000, 'x')};
  for (const std::string& wrong : all_wrong) {
    INFO(wrong.substr(0, 80));
    CHECK_FALSE(api.of("functions").read(wrong));
  }
  CHECK_FALSE(api.of("enums").read(beginning + name));  // of another kind
  CHECK_FALSE(api.of("enums").read(address_of("enums", name)));
  CHECK_FALSE(api.of("constants").read(address_of("constants", name)));
}

TEST_CASE("a version's documents have what this version has, and not what others have") {
  const ApiResources oldest(*abi_sets().front());
  const ApiResources newest(*abi_sets().back());
  const std::string address = "rkllm://api/functions/rkllm_set_function_tools";
  CHECK_FALSE(oldest.of("functions").read(address));
  CHECK(newest.of("functions").read(address));
  CHECK(oldest.of("functions").read("rkllm://api/functions/rkllm_init"));
}

TEST_CASE("the names of an enum's values come in the header's order, and of what is no enum there are none") {
  const auto document = api_document("1.3.0");
  const auto modes = enumerators_of(document, "RKLLMInferMode");
  CHECK(modes == std::vector<std::string>{"RKLLM_INFER_GENERATE", "RKLLM_INFER_GET_LAST_HIDDEN_LAYER",
                                          "RKLLM_INFER_GET_LOGITS"});
  for (const char* const wrong : {"", "RKLLMParam", "rkllminfermode", "RKLLM_INFER_GENERATE"}) {
    CHECK(enumerators_of(document, wrong).empty());
  }
}
