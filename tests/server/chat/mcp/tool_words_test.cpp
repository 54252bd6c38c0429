// The chat set is for small models: few words, flat arguments. tests/clients/tokens_test.mjs counts the tokens.
#include "chat/mcp/tool_words.hpp"

#include "support/catch.hpp"

#include <string>

using namespace rkllm_mcp;

TEST_CASE("the words of the chat set are few, and all arguments are flat") {
  std::size_t bytes = 0;
  for (const char* const name : {"list_models", "load_model", "chat", "embed", "stop", "status", "unload_model"}) {
    INFO(name);
    const mcp::Tool tool = chat::described_tool(name, true);
    CHECK_FALSE(tool.title.empty());
    CHECK_FALSE(tool.description.empty());
    CHECK(tool.permission == (tool.name == "unload_model" ? Permission::kAdmin : Permission::kCall));
    for (const auto& [argument, schema] : tool.input_schema["properties"].items()) {
      INFO(argument);
      const std::string type = schema["type"];
      CHECK((type == "string" || type == "number" || type == "integer"));
    }
    bytes += tool.name.size() + tool.title.size() + tool.description.size() + tool.input_schema.dump().size();
  }
  CHECK(bytes < 4000);
}

TEST_CASE("where nothing is remembered no conversation can be named") {
  for (const char* const name : {"chat", "stop"}) {
    CHECK(chat::described_tool(name, true).input_schema["properties"].contains("conversation"));
    CHECK_FALSE(chat::described_tool(name, false).input_schema["properties"].contains("conversation"));
  }
}
