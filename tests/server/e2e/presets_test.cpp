// Models by the names that the settings give them.
#include "support/catch.hpp"
#include "support/live_server.hpp"
#include "support/rpc_client.hpp"

#include <cstddef>
#include <string>

namespace rkllm_mcp::test {
namespace {

LiveServer::Options with_presets() {
  const Json models{{"brief", {{"param", {{"model_path", shipped_model("fast")}, {"max_new_tokens", 5}}}}},
                    {"broken", {{"param", {{"model_path", shipped_model("fast")}, {"top_kk", 5}}}}}};
  return {.set = {"models=" + models.dump()}};
}

std::size_t tokens_of(RpcClient& client, const std::string& handle) {
  return client.result("rkllm_run", run_params(handle, "Why is the sky blue?"))["perf"]["generate_tokens"]
             .get<std::size_t>() +
         1;
}

}  // namespace

TEST_CASE("rkllm_init takes the name of a preset, and fields beside it go first") {
  LiveServer server(with_presets());
  RpcClient client(server.connect(Transport::kTcp));
  const Json preset = client.result("rkllm_init", {{"model", "brief"}});
  CHECK(tokens_of(client, preset["handle"]) == 5);
  const Json shorter = client.result("rkllm_init", {{"model", "brief"}, {"param", {{"max_new_tokens", 3}}}});
  CHECK(tokens_of(client, shorter["handle"]) == 3);

  const Json unknown = client.call("rkllm_init", {{"model", "brie"}})["error"];
  CHECK(unknown["code"] == -32602);
  CHECK(unknown["data"]["path"] == "params.model");
  CHECK(unknown["message"].get<std::string>().find("did you mean \"brief\"?") != std::string::npos);
  // The number of a load that failed is not used up, and the connection goes on.
  const Json wrong = client.call("rkllm_init", {{"model", "broken"}})["error"];
  CHECK(wrong["message"].get<std::string>().find("params.param.top_kk") == 0);
}

TEST_CASE("the tool that loads models offers the presets, and only where there are some") {
  const auto schema_of_init = [](const LiveServer::Options& options) {
    LiveServer server(options);
    RpcClient client(server.connect(Transport::kTcp));
    const Json tools = client.result("tools/list")["tools"];
    for (const Json& tool : tools) {
      if (tool["name"] == "rkllm_init") return tool["inputSchema"];
    }
    return Json();
  };
  const Json offered = schema_of_init(with_presets());
  CHECK(offered["properties"]["model"]["enum"] == Json{"brief", "broken"});
  CHECK_FALSE(offered.contains("required"));
  const Json without = schema_of_init({});
  CHECK_FALSE(without["properties"].contains("model"));
  CHECK(without["required"] == Json{"param"});
}

}  // namespace rkllm_mcp::test
