// The program serves a version that its sources have never heard of: generated code, the real server, a library
// compiled from the new header, and a client.
#include "support/catch.hpp"
#include "support/process.hpp"

#include "bindgen_json.hpp"
#include "files.hpp"
#include "overlay/schema_check.hpp"

#include <stdexcept>
#include <string>

using bindgen::Json;
using rkllm_mcp::test::has_text;
using rkllm_mcp::test::Process;
using rkllm_mcp::test::TemporaryDirectory;

namespace {

// The server with the made-up library, and a client on its standard input and output.
class Served {
 public:
  Served() : process_(options()) {}

  // The message that answers; of a stream the last one.
  Json answer(const std::string& method, const Json& params = Json::object()) {
    process_.write(Json{{"jsonrpc", "2.0"}, {"id", ++id_}, {"method", method}, {"params", params}}.dump() + "\n");
    const auto line = process_.read_line();
    if (!line) throw std::runtime_error("no answer to " + method + "; the server says:\n" + process_.error_text());
    return Json::parse(*line);
  }
  Json result(const std::string& method, const Json& params = Json::object()) {
    const Json message = answer(method, params);
    if (!message.contains("result")) throw std::runtime_error(method + ": " + message.dump());
    return message["result"];
  }
  std::string complaint(const std::string& method, const Json& params) {
    return answer(method, params)["error"]["message"];
  }

  void init(Json param = Json::object()) {
    param["model_path"] = "any.rkllm";
    result("rkllm_init", {{"param", param}});
  }
  // What arrived in the C structs of a run.
  std::string text_of_run(const Json& infer_params = Json::object()) {
    return result("rkllm_run", run_params(infer_params))["text"];
  }
  static Json run_params(const Json& infer_params) {
    return {{"rkllm_input", {{"prompt_input", "any"}}}, {"rkllm_infer_params", infer_params}};
  }

  Json tool(const std::string& name) {
    std::string cursor;
    while (true) {
      const Json page = result("tools/list", cursor.empty() ? Json::object() : Json{{"cursor", cursor}});
      for (const Json& tool : page["tools"]) {
        if (tool["name"] == name) return tool;
      }
      if (!page.contains("nextCursor")) throw std::runtime_error("no tool " + name);
      cursor = page["nextCursor"];
    }
  }

 private:
  Process::Options options() {
    Process::Options options;
    options.args = {SERVER, "stdio", "--library", LIBRARY, "--settings", directory_ / "settings.json"};
    options.directory = directory_.path();
    return options;
  }

  TemporaryDirectory directory_;
  Process process_;
  int id_ = 0;
};

}  // namespace

TEST_CASE("a new field has its default and its range") {
  Served served;
  served.init();
  CHECK_THAT(served.text_of_run(), has_text("min_p 0.05"));
  served.result("rkllm_destroy");
  served.init({{"min_p", 0.25}});
  CHECK_THAT(served.text_of_run(), has_text("min_p 0.25"));
  CHECK(served.complaint("rkllm_init", {{"param", {{"model_path", "x"}, {"min_p", 1.5}}}}).find("params.param.min_p") ==
        0);
}

TEST_CASE("a new enumerator and a new macro are known by name") {
  Served served;
  CHECK(served.result("RKLLM_INFER_GET_ATTENTION")["value"] == 3);
  CHECK(served.result("RKLLM_STEERING_NAME_MAX")["value"] == 31);
  served.init();
  CHECK_THAT(served.text_of_run({{"mode", "RKLLM_INFER_GET_ATTENTION"}}), has_text("mode 3"));
}

TEST_CASE("a struct inside a struct arrives, and what stood behind it does as well") {
  Served served;
  served.init();
  const Json draft{{"model_path", "small.rkllm"}, {"length", 4}};
  CHECK_THAT(served.text_of_run({{"draft", draft}, {"max_new_tokens", 9}}),
             has_text("draft small.rkllm by 4, at most 9"));
  CHECK_THAT(served.text_of_run(), has_text("draft none by 0, at most 0"));
}

TEST_CASE("a new function with plain parameters is called, and its refusal told") {
  Served served;
  CHECK(served.result("rkllm_set_log_level", {{"level", 2}, {"with_time", true}}) == Json{{"status", 0}});
  CHECK(served.answer("rkllm_set_log_level", {{"level", 3}, {"with_time", true}})["error"]["code"] == 4001);
  CHECK(served.complaint("rkllm_set_log_level", {{"level", 2}}).find("params.with_time") == 0);
}

TEST_CASE("an array that a new function fills in is part of the result") {
  Served served;
  served.init();
  CHECK(served.result("rkllm_get_prompt_lengths") == Json{{"status", 0}, {"lengths", {7}}});
}

TEST_CASE("a new struct behind a pointer arrives, and its length follows from what a run has taught") {
  Served served;
  served.init();
  const Json steering{{"steering", {{"name", "calm"}, {"direction", {1, 2}}}}};
  CHECK_THAT(served.complaint("rkllm_set_steering", steering), has_text("embd_size is not known yet"));
  served.result("rkllm_run", Served::run_params({{"mode", "RKLLM_INFER_GET_LAST_HIDDEN_LAYER"}}));
  CHECK(served.complaint("rkllm_set_steering", {{"steering", {{"name", "calm"}, {"direction", {1, 2, 3}}}}})
            .find("params.steering.direction") == 0);
  CHECK(served.result("rkllm_set_steering", steering) == Json{{"status", 0}});
  CHECK_THAT(served.text_of_run(), has_text("steering calm by 1.00 along 1.00 2.00"));
}

TEST_CASE("a second kind of callback becomes a stream of its own") {
  Served served;
  served.init();
  const Json spoken = served.result("rkllm_speak", {{"text", "Hello!"}});
  CHECK(spoken["text"] == "Hello!");
  CHECK(spoken["state"] == "RKLLM_SPEECH_DONE");
  CHECK(spoken["sound"]["n_channels"] == 1);
  CHECK(spoken["sound"]["samples"].size() == 4);
}

TEST_CASE("what is gone is refused as what older versions have, and what has another name goes by that") {
  Served served;
  served.init({{"context_length", 64}});
  CHECK_THAT(served.text_of_run(), has_text("context 64"));
  for (const char* name : {"skip_special_token", "max_context_len"}) {
    const Json error = served.answer("rkllm_init", {{"param", {{"model_path", "x"}, {name, 1}}}})["error"];
    CHECK(error["code"] == 4008);
    CHECK_THAT(error["message"].get<std::string>(), has_text("params.param." + std::string(name)));
  }
  CHECK(served.result("rkllm_drop_prompt_cache") == Json{{"status", 0}});
  CHECK(served.answer("rkllm_release_prompt_cache")["error"]["code"] == 4008);
  CHECK_THROWS_AS(served.tool("rkllm_release_prompt_cache"), std::runtime_error);
}

TEST_CASE("what the new functions take and give is what their schemas say") {
  Served served;
  served.init();
  const Json spoken_input{{"text", "Hello!"}};
  const Json speak = served.tool("rkllm_speak");
  CHECK(bindgen::violations(speak["inputSchema"], spoken_input).empty());
  CHECK_FALSE(bindgen::violations(speak["inputSchema"], {{"words", "Hello!"}}).empty());
  CHECK(bindgen::violations(speak["outputSchema"], served.result("rkllm_speak", spoken_input)).empty());
  const Json lengths = served.tool("rkllm_get_prompt_lengths");
  CHECK(bindgen::violations(lengths["outputSchema"], served.result("rkllm_get_prompt_lengths")).empty());
  CHECK_FALSE(bindgen::violations(lengths["outputSchema"], {{"status", 0}}).empty());
}

TEST_CASE("older versions say what it takes to have the new things") {
  const Json api = Json::parse(bindgen::read_text(ROOT "/generated/api/1.4.0.json"));
  CHECK(api.dump().find("rkllm_speak") != std::string::npos);
  const std::string older = bindgen::read_text(ROOT "/generated/rkllm_mcp/v1_3_0/methods.hpp");
  CHECK_THAT(older, has_text(R"({"rkllm_speak", "1.4.0"})"));
  CHECK_THAT(older, has_text(R"({"rkllm_drop_prompt_cache", "1.4.0"})"));
  const std::string codecs = bindgen::read_text(ROOT "/generated/rkllm_mcp/any_version/codecs.hpp");
  CHECK_THAT(codecs, has_text(R"({"max_context_len", "<= 1.3.0"})"));
}
