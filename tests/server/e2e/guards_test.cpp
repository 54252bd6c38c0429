// What the vendor's library would ignore or not survive never reaches it.
#include "arrived_whole.hpp"
#include "support/catch.hpp"
#include "support/live_server.hpp"
#include "support/rpc_client.hpp"

#include <filesystem>
#include <string>
#include <vector>

namespace rkllm_mcp::test {
namespace {

Json error_of(const Json& message) {
  INFO(message);
  REQUIRE(message.contains("error"));
  return message["error"];
}

Json token_input(std::vector<int> ids) {
  return {{"rkllm_input", {{"input_type", "RKLLM_INPUT_TOKEN"}, {"token_input", {{"input_ids", ids}}}}},
          {"rkllm_infer_params", {{"max_new_tokens", 3}}}};
}

}  // namespace

TEST_CASE("rkllm_run_async on a handle made with is_async false is refused with the reason") {
  LiveServer server;
  RpcClient client(server.connect(Transport::kTcp));
  client.init(shipped_model("fast"), {{"is_async", false}});
  const Json error = error_of(client.call("rkllm_run_async", run_params("llm-1", "Hello")));
  CHECK(error["code"] == 4001);
  CHECK(error["message"].get<std::string>().find("is_async") != std::string::npos);
  CHECK(error["data"]["function"] == "rkllm_run_async");
  CHECK(server.recorded_runs().empty());
  CHECK(client.result("rkllm_run", run_params("llm-1", "@n=5"))["status"] == 0);
}

TEST_CASE("token ids are refused beyond the vocabulary, and until its size is known") {
  LiveServer server;
  RpcClient client(server.connect(Transport::kTcp));
  client.init(shipped_model("fast"));
  const Json unknown = error_of(client.call("rkllm_run", token_input({1, 2, 3})));
  CHECK(unknown["code"] == 4001);
  CHECK(unknown["message"].get<std::string>().find("RKLLM_INFER_GET_LOGITS") != std::string::npos);

  Json scoring = run_params("llm-1", "Hello");
  scoring["rkllm_infer_params"] = {{"mode", "RKLLM_INFER_GET_LOGITS"}, {"max_new_tokens", 1}};
  scoring["encoding"] = "base64";
  CHECK(client.result("rkllm_run", scoring)["logits"]["vocab_size"] == 8192);

  CHECK(client.result("rkllm_run", token_input({1, 2, 8191}))["status"] == 0);
  for (const int beyond : {8192, 1'000'000, -1}) {
    INFO(beyond);
    const Json error = error_of(client.call("rkllm_run", token_input({1, beyond})));
    CHECK(error["code"] == -32602);
    CHECK(error["data"]["path"] == "params.rkllm_input.token_input.input_ids[1]");
  }
  CHECK(error_of(client.call("rkllm_run", token_input({})))["code"] == -32602);
}

TEST_CASE("rkllm_destroy during a run aborts it and lets it finish first") {
  LiveServer server;
  RpcClient client(server.connect(Transport::kTcp));
  client.init(server.paced_model(100));
  const int id = client.run_async("llm-1", kEndless);
  StreamCheck stream(id, "rkllm_run_async");
  client.read_stream(stream, [&stream] { return stream.chunks() > 0; });
  const int queued = client.run_async("llm-1", "never begun");

  RpcClient other(server.connect(Transport::kWebSocket));
  CHECK(other.result("rkllm_destroy", {{"handle", "llm-1"}}) == Json{{"status", 0}});

  CHECK(error_of(client.answer(queued))["code"] == 4009);
  client.read_stream(stream, [&stream] { return stream.ended(); });
  CHECK(stream.ending()["aborted"] == true);
  CHECK(stream.text() == run_of(server, kEndless).text);
  CHECK(server.recorded_runs().size() == 1);
  const Json gone = error_of(client.call("rkllm_is_running", {{"handle", "llm-1"}}));
  CHECK(gone["code"] == 4002);
  CHECK(gone["data"] == Json{{"handles", Json::array()}});
  CHECK(error_of(client.call("rkllm_destroy", {{"handle", "llm-1"}}))["code"] == 4002);
}

TEST_CASE("concurrent runs on one handle queue, and each gets its own text") {
  LiveServer server;
  RpcClient one(server.connect(Transport::kTcp));
  RpcClient two(server.connect(Transport::kWebSocket));
  one.init(server.paced_model(400));
  const int first = one.run_async("llm-1", "@n=40 @seed=1");
  const int second = one.run_async("llm-1", "@n=40 @seed=2");
  const int third = two.run_async("llm-1", "@n=40 @seed=3");
  CHECK(difference(server, one.stream(first), "@n=40 @seed=1", 40) == "");
  CHECK(difference(server, one.stream(second), "@n=40 @seed=2", 40) == "");
  CHECK(difference(server, two.stream(third), "@n=40 @seed=3", 40) == "");
}

TEST_CASE("who waits and asked for it is told its place in the queue") {
  LiveServer server;
  RpcClient running(server.connect(Transport::kTcp));
  running.init(server.paced_model(50));
  const int endless = running.run_async("llm-1", kEndless);
  StreamCheck begun(endless, "rkllm_run_async");
  running.read_stream(begun, [&] { return begun.chunks() > 0; });
  const Json params{{"handle", "llm-1"}, {"rkllm_input", {{"prompt_input", "@n=1"}}}, {"include", {"queue_position"}}};

  RpcClient pushed(server.connect(Transport::kWebSocket));
  const int push = pushed.send("rkllm_run_async", params);
  CHECK(pushed.receive_or_throw()["result"] == Json{{"queue_position", 1}});
  RpcClient polling(server.connect(Transport::kHttp));
  const std::string stream = polling.result("rkllm_run_async", params)["stream_id"];
  CHECK(polling.result("poll", {{"stream_id", stream}, {"wait_ms", 20'000}}) == Json{{"queue_position", 2}});
  RpcClient mcp(server.connect(Transport::kTcp));
  mcp.send("tools/call", {{"name", "rkllm_run"}, {"arguments", params}, {"_meta", {{"progressToken", "p"}}}});
  const auto message = [&mcp] { return mcp.receive_or_throw().at("params").value("message", ""); };
  while (message() != "waits: 3 calls go first") {
  }

  const Json handle = server.health()["runtime"]["handles"][0];
  INFO(handle.dump());
  CHECK(handle["queued"] == 3);
  REQUIRE(handle["queue"].size() == 3);
  CHECK(handle["queue"][0]["position"] == 1);
  CHECK(handle["queue"][0]["id"] == push);
  CHECK(handle["queue"][0]["transport"] == "ws");
  CHECK(handle["queue"][1]["transport"] == "http");
  CHECK(handle["queue"][2]["method"] == "rkllm_run");

  running.result("rkllm_abort", {{"handle", "llm-1"}});
  CHECK(pushed.receive_or_throw()["result"] == Json{{"queue_position", 0}});
  CHECK(pushed.receive_or_throw()["result"]["chunk"]["seq"] == 0);
  while (message() != "begins") {
  }
}

TEST_CASE("a call that waits longer than queue.timeout_s is given up, and what runs is not touched") {
  LiveServer server({.set = {"queue.timeout_s=1"}});
  RpcClient client(server.connect(Transport::kTcp));
  client.init(server.paced_model(50));
  const int endless = client.run_async("llm-1", kEndless);
  StreamCheck run(endless, "rkllm_run_async");
  client.read_stream(run, [&] { return run.chunks() > 0; });
  RpcClient waiting(server.connect(Transport::kTcp));
  const Json error = error_of(waiting.call("rkllm_clear_kv_cache", {{"keep_system_prompt", 0}}));
  CHECK(error["code"] == 4004);
  CHECK(error["data"] == Json{{"timeout_s", 1}});
  CHECK(server.health()["runtime"]["handles"][0]["queued"] == 0);
  const auto before = run.chunks();
  client.read_stream(run, [&] { return run.chunks() > before + 5; });
  CHECK(client.result("rkllm_is_running")["running"] == true);
}

TEST_CASE("files are read below runtime.model_dirs and written below runtime.cache_dir, and nowhere else") {
  LiveServer plain;  // a directory to stand for the models'
  const std::string models = plain.directory().path();
  const std::string model = plain.write_model("allowed", Json::object());
  const TemporaryDirectory caches;
  LiveServer server({.set = {"runtime.model_dirs=" + models, "runtime.cache_dir=" + caches.path()}});
  RpcClient client(server.connect(Transport::kTcp));
  const auto init = [&](const std::string& path) {
    return client.call("rkllm_init", {{"param", {{"model_path", path}}}});
  };
  CHECK(error_of(init(shipped_model("fast")))["message"] ==
        "params.param.model_path: expected a file below one of runtime.model_dirs");
  CHECK(error_of(init(models + "/../" + "etc/passwd"))["code"] == -32602);
  CHECK(init("allowed.json")["result"]["handle"] == "llm-1");

  const auto run = [&](const Json& cache) {
    return client.call("rkllm_run", {{"rkllm_input", {{"prompt_input", "@n=2"}}},
                                     {"rkllm_infer_params", {{"prompt_cache_params", cache}}}});
  };
  CHECK(error_of(run({{"save_prompt_cache", true}, {"prompt_cache_path", "/tmp/elsewhere.cache"}}))["message"] ==
        "params.rkllm_infer_params.prompt_cache_params.prompt_cache_path: expected a file below runtime.cache_dir, or "
        "a relative path");
  CHECK(run({{"save_prompt_cache", true}, {"prompt_cache_path", "chat.cache"}}).contains("result"));
  CHECK(std::filesystem::exists(caches / "chat.cache"));
  CHECK(run({{"save_prompt_cache", true}}).contains("result"));
  CHECK(std::filesystem::exists(caches / "prompt_cache.bin"));
  CHECK(client.call("rkllm_load_prompt_cache", {{"prompt_cache_path", "chat.cache"}})["result"]["status"] == 0);
}

TEST_CASE("a prompt cache that the disk did not take is an error, and nothing of it is kept") {
  const TemporaryDirectory caches;
  // No file of the server's grows beyond 50 KB, as on a disk that is full.
  LiveServer server({.set = {"runtime.cache_dir=" + caches.path()},
                     .launcher = {"/bin/sh", "-c", "trap '' XFSZ; ulimit -f 100; exec \"$@\"", "sh"}});
  RpcClient client(server.connect(Transport::kTcp));
  client.init(shipped_model("fast"));
  Json params = run_params("llm-1", "@n=2");
  params["rkllm_infer_params"] = {
      {"prompt_cache_params", {{"save_prompt_cache", true}, {"prompt_cache_path", "chat.cache"}}}};
  const Json error = error_of(client.call("rkllm_run", params));
  CHECK(error["code"] == 4001);
  CHECK(error["message"].get<std::string>().find("its prompt cache was not saved: No space left on device") !=
        std::string::npos);
  CHECK_FALSE(std::filesystem::exists(caches / "chat.cache"));
  params["rkllm_infer_params"]["prompt_cache_params"]["save_prompt_cache"] = false;
  CHECK(client.result("rkllm_run", params)["status"] == 0);
}

TEST_CASE("prompt caches have a quota") {
  const TemporaryDirectory caches;
  LiveServer server({.set = {"runtime.cache_dir=" + caches.path(), "runtime.cache_bytes=1000"}});
  RpcClient client(server.connect(Transport::kTcp));
  client.init(shipped_model("fast"));
  const auto run = [&](const std::string& prompt, const std::string& name) {
    Json params = run_params("llm-1", prompt);
    params["rkllm_infer_params"] = {
        {"prompt_cache_params", {{"save_prompt_cache", true}, {"prompt_cache_path", name}}}};
    return client.call("rkllm_run", params);
  };
  CHECK(run("@n=2", "small.cache").contains("result"));
  CHECK(std::filesystem::exists(caches / "small.cache"));
  const Json beyond = error_of(run("@n=2 " + std::string(300, 'x'), "large.cache"));
  CHECK(beyond["code"] == 4001);
  INFO(beyond);
  CHECK(beyond["message"].get<std::string>().find("runtime.cache_bytes allows 1000") != std::string::npos);
  CHECK_FALSE(std::filesystem::exists(caches / "large.cache"));
  CHECK(run("@n=2", "small.cache").contains("result"));  // takes its own place
  write_file(caches / "something", std::string(5000, 'x'));
  const Json full = error_of(run("@n=2", "other.cache"));
  CHECK(full["code"] == -32602);
  CHECK(full["data"]["path"] == "params.rkllm_infer_params.prompt_cache_params.prompt_cache_path");
  CHECK_FALSE(std::filesystem::exists(caches / "other.cache"));
}

TEST_CASE("the KV cache is not cleared under a run") {
  LiveServer server;
  RpcClient client(server.connect(Transport::kTcp));
  client.init(server.paced_model(400));
  const int run = client.run_async("llm-1", "@n=40");
  const int clear = client.send("rkllm_clear_kv_cache", {{"keep_system_prompt", false}});
  CHECK(difference(server, client.stream(run), "@n=40", 40) == "");  // its last message comes before the answer
  CHECK(client.answer(clear)["result"] == Json{{"status", 0}});
  CHECK(client.result("rkllm_get_kv_cache_size")["cache_sizes"] == Json::array({0}));
}

TEST_CASE("what must not be NULL is refused by its path") {
  LiveServer server;
  RpcClient client(server.connect(Transport::kTcp));
  client.init(shipped_model("fast"));
  struct Case {
    const char* method;
    Json params;
    const char* path;
  };
  const std::vector<Case> cases{
      {"rkllm_init", Json::object(), "params.param"},
      {"rkllm_init", {{"param", nullptr}}, "params.param"},
      {"rkllm_init", {{"param", Json::object()}}, "params.param.model_path"},
      {"rkllm_init", {{"param", {{"model_path", nullptr}}}}, "params.param.model_path"},
      {"rkllm_run", Json::object(), "params.rkllm_input"},
      {"rkllm_run", {{"rkllm_input", nullptr}}, "params.rkllm_input"},
      {"rkllm_run", {{"rkllm_input", {{"prompt_input", nullptr}}}}, "params.rkllm_input.prompt_input"},
      {"rkllm_run",
       {{"rkllm_input", {{"prompt_input", "Hello"}}},
        {"rkllm_infer_params", {{"lora_params", {{"lora_adapter_name", nullptr}}}}}},
       "params.rkllm_infer_params.lora_params.lora_adapter_name"},
      {"rkllm_load_lora", Json::object(), "params.lora_adapter"},
      {"rkllm_load_lora", {{"lora_adapter", {{"lora_adapter_name", "x"}}}}, "params.lora_adapter.lora_adapter_path"},
      {"rkllm_load_prompt_cache", Json::object(), "params.prompt_cache_path"},
      {"rkllm_set_chat_template", {{"system_prompt", ""}, {"prompt_prefix", ""}}, "params.prompt_postfix"},
      {"rkllm_set_function_tools", {{"system_prompt", ""}, {"tool_response_str", "t"}}, "params.tools"},
      {"rkllm_set_function_tools",
       {{"system_prompt", ""}, {"tools", "not JSON"}, {"tool_response_str", "t"}},
       "params.tools"},
  };
  for (const auto& [method, params, path] : cases) {
    INFO(method << " " << params);
    const Json error = error_of(client.call(method, params));
    CHECK(error["code"] == -32602);
    CHECK(error["data"]["path"] == path);
  }
  CHECK(client.result("rkllm_run", run_params("llm-1", "@n=5"))["status"] == 0);  // it has survived all of that
}

TEST_CASE("rkllm_run can be cancelled by whoever waits for it, and still answers with what there is") {
  LiveServer::Options options;
  options.with_stdio = true;
  LiveServer server(options);
  RpcClient observer(server.connect(Transport::kTcp));
  observer.init(server.paced_model(100));
  int number = 0;
  for (const Transport transport : {Transport::kStdio, Transport::kTcp, Transport::kUdp, Transport::kWebSocket}) {
    INFO(name_of(transport));
    const std::string prompt = "@n=100000 @seed=" + std::to_string(++number);
    RpcClient client(server.connect(transport));
    const int id = client.send("rkllm_run", run_params("llm-1", prompt));
    while (observer.result("rkllm_is_running")["running"] == false) {
    }
    client.send_text(
        Json{{"jsonrpc", "2.0"}, {"method", "notifications/cancelled"}, {"params", {{"requestId", id}}}}.dump());
    const Json result = client.answer(id)["result"];
    CHECK(result["aborted"] == true);
    CHECK(result["status"] == 0);
    CHECK(result["text"] == run_of(server, prompt).text);
  }
}

TEST_CASE("rkllm_abort stops the run that goes on, and not the one that waits") {
  LiveServer server;
  RpcClient client(server.connect(Transport::kTcp));
  client.init(server.paced_model(100));
  const int first = client.run_async("llm-1", kEndless);
  const int second = client.run_async("llm-1", "@n=20 @seed=2");
  StreamCheck stream(first, "rkllm_run_async");
  client.read_stream(stream, [&stream] { return stream.chunks() > 0; });
  CHECK(client.result("rkllm_abort") == Json{{"status", 0}});
  client.read_stream(stream, [&stream] { return stream.ended(); });
  CHECK(stream.ending()["aborted"] == true);
  CHECK(difference(server, client.stream(second), "@n=20 @seed=2", 20) == "");
}

}  // namespace rkllm_mcp::test
