// What the bindings of older versions do differently: they speak the wire of today, and say what they lack.
#include "recording_sink.hpp"
#include "support/catch.hpp"

#include <rkllm_mcp/abi_sets.hpp>

#include <map>
#include <memory>
#include <string>

using namespace rkllm_mcp;
using rkllm_mcp::test::RecordingSink;

namespace {

struct Seen {
  v1_2_3::RKLLMMultiModalInput image{};
  float last_value = 0;
  std::string tag;
  int cleared_with = -1;
  int running = 0;
};
Seen seen;

v1_2_3::RKLLMParam default_param() { return {}; }
v1_3_0::RKLLMParam default_param_of_1_3_0() { return {}; }
int init(v1_2_3::LLMHandle* handle, v1_2_3::RKLLMParam* param, v1_2_3::LLMResultCallback callback) {
  *handle = &seen;
  seen.tag = param->img_start == nullptr ? "" : param->img_start;
  return callback == nullptr ? -1 : 0;
}
int run(v1_2_3::LLMHandle, v1_2_3::RKLLMInput* input, v1_2_3::RKLLMInferParam*, void* userdata) {
  if (input->input_type == v1_2_3::RKLLM_INPUT_MULTIMODAL) {
    seen.image = input->multimodal_input;
    seen.last_value = seen.image.image_embed[3];
  }
  v1_2_3::RKLLMResult result{};
  result.text = "x";
  any_version::deliver_LLMResultCallback<v1_2_3::Abi>(&result, userdata, v1_2_3::RKLLM_RUN_FINISH);
  return 0;
}
int is_running(v1_2_3::LLMHandle) { return seen.running; }
int clear_all(v1_2_3::LLMHandle, int keep) {
  seen.cleared_with = keep;
  return 0;
}
int whatever() { return 0; }

template <class Function>
void* address(Function* function) {
  return reinterpret_cast<void*>(function);
}

// A library of which only these functions are called.
std::unique_ptr<Binding> bound(const AbiSet& set) {
  if (set.version == "1.3.0") {
    return set.bind([](const char* name) {
      return std::string_view(name) == "rkllm_createDefaultParam" ? address(&default_param_of_1_3_0)
                                                                  : address(&whatever);
    });
  }
  return set.bind([](const char* name) {
    static const std::map<std::string, void*> kFunctions = {{"rkllm_createDefaultParam", address(&default_param)},
                                                            {"rkllm_init", address(&init)},
                                                            {"rkllm_run", address(&run)},
                                                            {"rkllm_is_running", address(&is_running)},
                                                            {"rkllm_clear_kv_cache", address(&clear_all)}};
    const auto found = kFunctions.find(name);
    return found == kFunctions.end() ? address(&whatever) : found->second;
  });
}

const AbiSet& set_named(std::string_view version) {
  for (const AbiSet* set : kAbiSets) {
    if (set->version == version) return *set;
  }
  throw std::logic_error("no such set");
}

class OldCaller {
 public:
  explicit OldCaller(std::string_view version) : set_(set_named(version)), binding_(bound(set_)) {
    handle_.native = &seen;
    handle_.values = {{"is_async", 1}, {"n_batch", 1}, {"embd_size", 2}, {"vocab_size", 10}};
  }

  Json call(std::string_view name, const Json& params) {
    CallContext context{params, &handle_, &sink_, ArrayEncoding::kJson, {}, set_.version};
    for (const Method& method : set_.methods) {
      if (method.name == name) return binding_->call(method, context);
    }
    throw std::logic_error("no such method");
  }
  // The error, as {"code","data"}.
  Json refusal(std::string_view name, const Json& params) {
    try {
      call(name, params);
    } catch (const RpcError& error) {
      return Json{{"code", static_cast<int>(error.code())}, {"data", error.data()}};
    }
    return "accepted";
  }

 private:
  const AbiSet& set_;
  std::unique_ptr<Binding> binding_;
  HandleRecord handle_;
  RecordingSink sink_;
};

const Json kImage{{"prompt", "What is <image>?"}, {"image", {{"image_embed", {1, 2, 3, 4}}, {"n_image_tokens", 2}}}};

Json run_with(const Json& input) { return Json{{"rkllm_input", input}}; }

}  // namespace

TEST_CASE("an image has the shape of today on the wire, and the flat struct of 1.2 in C") {
  seen = {};
  OldCaller caller("1.2.3");
  caller.call("rkllm_run", run_with({{"input_type", "RKLLM_INPUT_MULTIMODAL"}, {"multimodal_input", kImage}}));
  CHECK(seen.image.n_image == 1);
  CHECK(seen.image.n_image_tokens == 2);
  CHECK(seen.last_value == 4);
}

TEST_CASE("what a version lacks is error 4008 with what it takes") {
  OldCaller caller("1.2.3");
  Json tagged = kImage;
  tagged["image"]["image_start"] = "<img>";
  const Json needs{{"code", 4008}, {"data", {{"needs", "1.3.0"}, {"have", "1.2.3"}}}};
  CHECK(caller.refusal("rkllm_run",
                       run_with({{"input_type", "RKLLM_INPUT_MULTIMODAL"}, {"multimodal_input", tagged}})) == needs);
  Json video = kImage;
  video["video"] = Json::object();
  CHECK(caller.refusal("rkllm_run",
                       run_with({{"input_type", "RKLLM_INPUT_MULTIMODAL"}, {"multimodal_input", video}})) == needs);
  CHECK(caller.refusal("rkllm_run", {{"rkllm_input", {{"prompt_input", "x"}}},
                                     {"rkllm_infer_params", {{"max_new_tokens", 3}}}}) == needs);
  CHECK(caller.refusal("rkllm_init", {{"param", {{"model_path", "x"}, {"ignore_eos_token", true}}}}) == needs);

  OldCaller older("1.2.0");
  CHECK(older.refusal("rkllm_run", run_with({{"role", "tool"}, {"prompt_input", "x"}}))["data"]["needs"] == "1.2.1");
  CHECK(older.refusal("rkllm_clear_kv_cache", {{"start_pos", {1}}, {"end_pos", {2}}})["data"]["needs"] == "1.2.1");
}

TEST_CASE("what only older versions have is 4008 as well") {
  const auto refused = [] {
    OldCaller caller("1.3.0");
    return caller.refusal("rkllm_init", {{"param", {{"model_path", "x"}, {"img_start", "<img>"}}}});
  };
  CHECK(refused() == Json{{"code", 4008}, {"data", {{"needs", "<= 1.2.3"}, {"have", "1.3.0"}}}});
}

TEST_CASE("rkllm_init of 1.2 is given the callback itself, and the tags of images") {
  seen = {};
  OldCaller caller("1.2.3");
  const Json reply = caller.call("rkllm_init", {{"param", {{"model_path", "x"}, {"img_start", "<img>"}}}});
  CHECK(reply["status"] == 0);
  CHECK(seen.tag == "<img>");
}

TEST_CASE("rkllm_is_running means the opposite up to 1.2.3") {
  OldCaller caller("1.2.3");
  seen.running = 0;
  CHECK(caller.call("rkllm_is_running", Json::object()) == Json{{"running", true}, {"status", 0}});
  seen.running = 1;
  CHECK(caller.call("rkllm_is_running", Json::object()) == Json{{"running", false}, {"status", 1}});
}

TEST_CASE("rkllm_clear_kv_cache of 1.2.0 takes two arguments") {
  seen = {};
  OldCaller caller("1.2.0");
  CHECK(caller.call("rkllm_clear_kv_cache", {{"keep_system_prompt", true}})["status"] == 0);
  CHECK(seen.cleared_with == 1);
}
