// What the vendor's library accepts and then answers with nothing, breaks on, or only speaks of in its log; and that
// whatever is simulated says so. Each in a worker process and in the server's own.
#include "arrived_whole.hpp"
#include "support/catch.hpp"
#include "support/http_client.hpp"
#include "support/lines.hpp"
#include "support/live_server.hpp"
#include "support/paths.hpp"
#include "support/rpc_client.hpp"

#include <chrono>
#include <fstream>
#include <string>

namespace rkllm_mcp::test {
namespace {

LiveServer::Options isolated_by(const char* isolation) {
  return {.set = {std::string("runtime.isolation=") + isolation}};
}

const char* either_isolation() { return GENERATE("process", "thread"); }

Json error_in(const Json& message) {
  INFO(message);
  REQUIRE(message.contains("error"));
  return message["error"];
}

bool says(const Json& text, const std::string& part) { return text.get<std::string>().find(part) != std::string::npos; }

Json with_adapter(const std::string& handle, const char* name) {
  Json params = run_params(handle, "Hello");
  params["rkllm_infer_params"] = {{"lora_params", {{"lora_adapter_name", name}}}};
  return params;
}

Json multimodal(Json input) {
  return {{"rkllm_input", {{"input_type", "RKLLM_INPUT_MULTIMODAL"}, {"multimodal_input", std::move(input)}}}};
}

}  // namespace

TEST_CASE("traps: everything simulated says so", "[worker]") {
  LiveServer server(isolated_by(either_isolation()));
  RpcClient client(server.connect(Transport::kTcp));
  const Json made = client.result("rkllm_init", {{"param", {{"model_path", shipped_model("fast")}}}});
  CHECK(made["simulated"] == true);
  CHECK(client.result("rkllm_run", run_params("llm-1", "@n=3"))["simulated"] == true);
  CHECK(client.stream(client.run_async("llm-1", "@n=3")).ending()["simulated"] == true);
  const Json tool = client.result("tools/call", {{"name", "rkllm_run"}, {"arguments", run_params("llm-1", "@n=3")}});
  CHECK(tool["structuredContent"]["simulated"] == true);
  CHECK_FALSE(client.result("rkllm_is_running").contains("simulated"));

  const Json read = client.result("resources/read", {{"uri", "rkllm://handles"}});
  const Json handles = Json::parse(read["contents"][0]["text"].get<std::string>());
  CHECK(handles["handles"][0]["simulated"] == true);
  HttpClient http(server.endpoint(Transport::kHttp));
  CHECK(Json::parse(http.get("/servers").body)["servers"][0]["simulated"] == true);
  CHECK(has_line(http.get("/metrics").body, R"(rkllm_mcp_runtime_info{version="1.3.0",simulated="true"} 1)"));
}

TEST_CASE("traps: what does not call itself simulated is not called so", "[worker]") {
  const TemporaryDirectory directory;
  const std::string library = directory / "librkllmrt.so";
  std::string content = read_file(simulator_of("1.3.0"));
  for (auto at = content.find("SIMULATED"); at != std::string::npos; at = content.find("SIMULATED", at)) {
    content.replace(at, 9, "SINCERE! ");
  }
  std::ofstream(library, std::ios::binary) << content;
  LiveServer::Options options = isolated_by(either_isolation());
  options.runtime = {"--set", "runtime.library=" + library};
  LiveServer server(options);
  RpcClient client(server.connect(Transport::kTcp));
  // The compiler may have made instructions of the text that it looks for in names, which are as they were.
  const std::string model = server.write_model("genuine", {{"name", "SIMULATED, SINCERE! model"}});
  CHECK_FALSE(client.result("rkllm_init", {{"param", {{"model_path", model}}}}).contains("simulated"));
  CHECK_FALSE(client.result("rkllm_run", run_params("llm-1", "@n=3")).contains("simulated"));
  const Json read = client.result("resources/read", {{"uri", "rkllm://handles"}});
  CHECK(read["contents"][0]["text"].get<std::string>().find("simulated") == std::string::npos);
  HttpClient http(server.endpoint(Transport::kHttp));
  CHECK(http.get("/servers").body.find("simulated") == std::string::npos);
  CHECK(has_line(http.get("/metrics").body, R"(rkllm_mcp_runtime_info{version="1.3.0"} 1)"));
}

TEST_CASE("traps: errors that are logged by a call that succeeds are its warnings", "[worker]") {
  LiveServer server(isolated_by(either_isolation()));
  RpcClient client(server.connect(Transport::kTcp));
  const Json logs = {{"faults", {{{"when", "init"}, {"what", "log"}}, {{"when", 2}, {"what", "log"}}}}};
  const Json made = client.result("rkllm_init", {{"param", {{"model_path", server.write_model("logs", logs)}}}});
  REQUIRE(made["warnings"].size() == 1);
  CHECK(says(made["warnings"][0], "E rkllm: the model file asks for an error line"));
  CHECK(client.result("rkllm_run", run_params("llm-1", "@n=3"))["warnings"].size() == 1);
  CHECK(client.stream(client.run_async("llm-1", "@n=3")).ending()["warnings"].size() == 1);
  const Json tool = client.result("tools/call", {{"name", "rkllm_run"}, {"arguments", run_params("llm-1", "@n=3")}});
  CHECK(tool["structuredContent"]["warnings"].size() == 1);
  CHECK_FALSE(client.result("rkllm_run", run_params("llm-1", "@n=1")).contains("warnings"));
}

TEST_CASE("traps: an adapter that cannot be applied is refused, and so are runs with it, the model lives on",
          "[worker]") {
  LiveServer server(isolated_by(either_isolation()));
  RpcClient client(server.connect(Transport::kTcp));
  client.init(shipped_model("fast"));
  const std::string file = server.directory() / "other.bin";
  std::ofstream(file) << "no adapter";
  const Json adapter = {{"lora_adapter", {{"lora_adapter_path", file}, {"lora_adapter_name", "mine"}}}};
  const Json refused = error_in(client.call("rkllm_load_lora", adapter));
  CHECK(refused["code"] == 4001);
  CHECK(refused["data"]["status"] == 0);
  CHECK(says(refused["data"]["log"][0], "cannot be applied"));
  const Json run = error_in(client.call("rkllm_run", with_adapter("llm-1", "mine")));
  CHECK(run["code"] == 4001);
  CHECK(says(run["message"], "cannot be applied"));
  CHECK(client.result("rkllm_run", run_params("llm-1", "@n=3"))["status"] == 0);
}

TEST_CASE("traps: the error of a failed run tells that the cache is empty, and what was logged", "[worker]") {
  LiveServer server(isolated_by(either_isolation()));
  RpcClient client(server.connect(Transport::kTcp));
  client.init(shipped_model("fast"));
  client.result("rkllm_run", run_params("llm-1", "@n=3"));
  const Json error = error_in(client.call("rkllm_run", with_adapter("llm-1", "nobody")));
  CHECK(error["code"] == 4001);
  CHECK(error["data"]["kv_cache_emptied"] == true);
  CHECK(says(error["message"], "emptied the KV cache"));
  CHECK(says(error["data"]["log"][0], "E rkllm: unknown LoRA adapter nobody"));
  CHECK(client.result("rkllm_get_kv_cache_size")["cache_sizes"] == Json{0});

  // A conversation that is refused something is still there.
  Json turn = run_params("llm-1", "@n=3");
  turn["rkllm_infer_params"] = {{"keep_history", 1}};
  client.result("rkllm_run", turn);
  turn["rkllm_infer_params"]["lora_params"] = {{"lora_adapter_name", "nobody"}};
  CHECK_FALSE(error_in(client.call("rkllm_run", turn))["data"].contains("kv_cache_emptied"));
}

TEST_CASE("traps: a run that ends in the state of failure is an error, whatever its function has returned",
          "[worker]") {
  LiveServer server(isolated_by(either_isolation()));
  RpcClient client(server.connect(Transport::kTcp));
  const Json faults = {{"faults", {{{"when", 2}, {"what", "log"}}, {{"when", 3}, {"what", "error"}}}}};
  client.init(server.write_model("failing", faults));
  Json whole = run_params("llm-1", "@n=9");
  whole["stream"] = false;
  const Json sync = error_in(client.call("rkllm_run", whole));
  CHECK(sync["code"] == 4001);
  CHECK(sync["data"]["status"] == -1);
  CHECK(sync["data"]["state"] == "RKLLM_RUN_ERROR");
  const Json async = error_in(client.call("rkllm_run_async", whole));
  CHECK(async["code"] == 4001);
  CHECK(async["data"]["function"] == "rkllm_run_async");
  CHECK(async["data"]["status"] == 0);
  CHECK(async["data"]["state"] == "RKLLM_RUN_ERROR");
  CHECK(says(async["message"], "the model file asks for an error line (rkllm_run_async returned 0, but the run ended"));
  CHECK(async["data"]["log"].size() == 1);
  const Json streamed = client.stream(client.run_async("llm-1", "@n=9")).ending();
  CHECK(error_in(streamed)["data"]["state"] == "RKLLM_RUN_ERROR");
  const Json tool =
      client.result("tools/call", {{"name", "rkllm_run_async"}, {"arguments", run_params("llm-1", "@n=9")}});
  CHECK(tool["isError"] == true);
  CHECK(says(tool["content"][0]["text"], "the run ended with RKLLM_RUN_ERROR"));
}

TEST_CASE("traps: what the library would take for no input is refused", "[worker]") {
  LiveServer server(isolated_by(either_isolation()));
  RpcClient client(server.connect(Transport::kTcp));
  client.init(shipped_model("fast"));
  const Json nothing = error_in(client.call("rkllm_run", multimodal({{"prompt", "What is in <image>?"}})));
  CHECK(nothing["code"] == -32602);
  CHECK(nothing["data"]["path"] == "params.rkllm_input.multimodal_input.image");

  client.result("rkllm_init", {{"param", {{"model_path", shipped_model("fast")}, {"extend_param", {{"n_batch", 2}}}}}});
  Json both = {{"handle", "llm-2"}, {"rkllm_input", {{{"prompt_input", "a"}}, {{"prompt_input", "b"}}}}};
  both["rkllm_infer_params"] = {{"mode", "RKLLM_INFER_GET_LAST_HIDDEN_LAYER"}};
  const Json empty = error_in(client.call("rkllm_run", both));
  CHECK(empty["code"] == 4001);
  CHECK(says(empty["message"], "gave nothing"));

  both["rkllm_infer_params"] = {{"keep_history", true}};
  const Json history = error_in(client.call("rkllm_run", both));
  CHECK(history["code"] == -32602);
  CHECK(history["data"]["path"] == "params.rkllm_infer_params.keep_history");
  both["rkllm_infer_params"] = {{"keep_history", 0}, {"max_new_tokens", 2}};
  CHECK(client.result("rkllm_run", both)["texts"].size() == 2);
}

TEST_CASE("traps: in one process the library makes one handle at a time", "[worker]") {
  LiveServer::Options options = isolated_by("thread");
  options.env = {{"RKLLM_SIM_PLATFORM", "none"}};  // rkllm_init then takes 100 ms, and fails
  LiveServer server(options);
  RpcClient one(server.connect(Transport::kTcp));
  RpcClient two(server.connect(Transport::kTcp));
  const Json params = {{"param", {{"model_path", shipped_model("fast")}}}};
  const auto begun = std::chrono::steady_clock::now();
  const int first = one.send("rkllm_init", params);
  const int second = two.send("rkllm_init", params);
  for (const Json& answer : {one.answer(first), two.answer(second)}) {
    CHECK(says(error_in(answer)["data"]["log"][0], "no NPU device"));
  }
  CHECK(std::chrono::steady_clock::now() - begun >= std::chrono::milliseconds(200));
}

TEST_CASE("traps: in one process the library's last words reach standard error", "[worker]") {
  LiveServer::Options options = isolated_by("thread");
  options.env = {{"ASAN_OPTIONS", "handle_segv=0"}};
  LiveServer server(options);
  RpcClient client(server.connect(Transport::kTcp));
  const Json out_of_memory = {{"faults", {{{"when", "init"}, {"what", "oom"}}}}};
  client.send("rkllm_init", {{"param", {{"model_path", server.write_model("large", out_of_memory)}}}});
  CHECK(server.process().wait_for_error_text("E rkllm: init failed: out of NPU memory"));
  CHECK(server.process().wait() != 0);
}

TEST_CASE("traps: what a library lacks is named, also by GET /health", "[worker]") {
  LiveServer::Options options = isolated_by(either_isolation());
  options.runtime = {"--set", "runtime.library=" + built_library("test_needy")};
  LiveServer server(options);
  Json health;
  const auto deadline = std::chrono::steady_clock::now() + Process::kPatience;
  do health = server.health();
  while (health["runtime"]["state"] == "starting" && std::chrono::steady_clock::now() < deadline);
  CHECK(health["status"] == "degraded");
  CHECK(says(health["runtime"]["reason"], "needs libtest_absent.so, which this system does not have"));
  RpcClient client(server.connect(Transport::kTcp));
  CHECK(says(error_in(client.call("rkllm_is_running"))["data"]["reason"], "needs libtest_absent.so"));
}

}  // namespace rkllm_mcp::test
