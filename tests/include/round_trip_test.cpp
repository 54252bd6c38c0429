// Where a round trip has more than one way to go: sizes of the machine, flags, encodings, defaults.
#include "round_trip.hpp"
#include "support/catch.hpp"

#include <rkllm_mcp/v1_3_0/methods.hpp>

#include <limits>
#include <string>

using namespace rkllm_mcp;
using namespace rkllm_mcp::v1_3_0;
using rkllm_mcp::test::round_trip;

TEST_CASE("a size_t is as large as the machine's, and no larger") {
  const auto with_height = [](const std::string& height) {
    return Json::parse(
        R"({"prompt":"","image":{"image_embed":[1.0,2.0],"n_image_tokens":1,"n_image":1,"image_start":"","image_end":"",
            "image_content":"p","image_width":0,"image_height":)" +
        height + "}}");
  };
  const std::string largest = std::to_string(std::numeric_limits<std::size_t>::max());
  CHECK(round_trip<RKLLMMultiModalInput>(with_height(largest)) == with_height(largest));
  CHECK_THROWS_AS(round_trip<RKLLMMultiModalInput>(with_height("1" + largest)), InvalidParams);
}

TEST_CASE("flags are read as booleans too, and written as the integers that they are") {
  CHECK(round_trip<RKLLMPromptCacheParam>({{"save_prompt_cache", true}}).at("save_prompt_cache") == 1);
}

TEST_CASE("arrays of floats are written in the encoding that was asked for") {
  const Json json = {{"embed", {1.0, 2.0}}};
  const Json written = round_trip<RKLLMEmbedInput>(json, ArrayEncoding::kBase64);
  CHECK(written.at("embed") == Json({{"base64", "AACAPwAAAEA="}, {"dtype", "float32"}}));
  CHECK(round_trip<RKLLMEmbedInput>(written).at("embed") == json.at("embed"));
}

TEST_CASE("defaults in the code are those that the schema tells") {
  const Json schema =
      Json::parse(any_version::method_rkllm_init<Abi>().input_schema).at("properties").at("param").at("properties");
  const Json defaults = encode(default_of(TypeTag<RKLLMParam>{}));
  for (const auto& [name, property] : schema.items()) {
    INFO(name);
    if (!property.contains("default") || name == "is_async") continue;  // true on the wire
    CHECK(property.at("default") == defaults.at(name));
  }
  CHECK(schema.at("is_async").at("default") == true);
}
