#include "backend/guarded_engine.hpp"

#include "json_members.hpp"
#include "jsonrpc/unread.hpp"

#include <rkllm_mcp/errors.hpp>

#include <deque>
#include <exception>
#include <optional>
#include <set>
#include <string_view>

namespace rkllm_mcp {
namespace {

constexpr int kMultimodal = 3;  // RKLLM_INPUT_MULTIMODAL
constexpr std::string_view kLoadsAdapter = "rkllm_load_lora";

// As given_in(), and null if `object` is. The stub checks everything once more, and complains of wrong types.
const Json* given_below(const Json* object, const char* name) {
  return object == nullptr ? nullptr : given_in(*object, name);
}

// Parses what the checks below look at, if it is an unread part of a long message (jsonrpc/unread.hpp). Rows of numbers
// inside stay text: parsed they would take eight times the memory.
class Looked {
 public:
  const Json* at(const Json* value) {
    if (value == nullptr || !value->is_binary()) return value;
    return &read_.emplace_back(read_outside(*value));
  }
  // See given_below().
  const Json* member(const Json* object, const char* name) { return at(given_below(object, name)); }

 private:
  std::deque<Json> read_;
};

bool is_set(const Json* flag) {
  if (flag == nullptr) return false;
  return flag->is_boolean() ? flag->get<bool>() : flag->is_number() && flag->get<double>() != 0;
}

std::string string_in(const Json* text) {
  return text != nullptr && text->is_string() ? text->get<std::string>() : std::string();
}

void require_image(Looked& looked, const Json* entry, const std::string& path) {
  const Json* const input = looked.at(entry);
  const Json* const type = given_below(input, "input_type");
  if (type == nullptr || (*type != "RKLLM_INPUT_MULTIMODAL" && *type != kMultimodal)) return;
  const Json* const multimodal = looked.member(input, "multimodal_input");
  if (multimodal == nullptr || !multimodal->is_object()) return;
  if (given_below(multimodal, "image") != nullptr || given_below(multimodal, "video") != nullptr) return;
  throw InvalidParams(path + ".multimodal_input.image",
                      "required if there is no video: without either the runtime takes the input for none at all");
}

class GuardedModel final : public Model {
 public:
  explicit GuardedModel(std::unique_ptr<Model> model) : model_(std::move(model)) {}

  void begin_run(CallObserver& observer) override { model_->begin_run(observer); }

  CallOutcome call(const CallRequest& request) override {
    CallOutcome outcome;
    try {
      if (request.method->streams) check_run(*request.method, request.params);
      outcome = model_->call(request);
      if (!outcome.error && request.method->name == kLoadsAdapter) check_adapter(request, outcome.result);
    } catch (...) {
      outcome.error = std::current_exception();
    }
    return outcome;
  }

  CallOutcome call_beside(const CallRequest& request) override { return model_->call_beside(request); }
  void stop_run() override { model_->stop_run(); }
  void stop_loading() override { model_->stop_loading(); }
  std::optional<pid_t> loading_in() const override { return model_->loading_in(); }
  bool loaded() const override { return model_->loaded(); }
  Values values() const override { return model_->values(); }
  std::optional<pid_t> process() const override { return model_->process(); }

 private:
  void check_run(const Method& method, const Json& params) const {
    Looked looked;
    const Json* const all = looked.at(&params);
    const Json* const infer = looked.member(all, "rkllm_infer_params");
    if (is_set(given_below(infer, "keep_history")) && entries() > 1) {
      throw InvalidParams(
          "params.rkllm_infer_params.keep_history",
          "expected 0: with n_batch above 1 the runtime keeps no history, and refuses every run after one "
          "that asks for it");
    }
    const std::string adapter = string_in(given_below(looked.member(infer, "lora_params"), "lora_adapter_name"));
    if (unusable_adapters_.contains(adapter)) throw adapter_unusable(method.name, std::nullopt, adapter, Json::array());

    const Json* const input = looked.member(all, "rkllm_input");
    if (input == nullptr || !input->is_array()) return require_image(looked, input, "params.rkllm_input");
    for (std::size_t at = 0; at < input->size(); ++at) {
      require_image(looked, &(*input)[at], "params.rkllm_input[" + std::to_string(at) + "]");
    }
  }

  void check_adapter(const CallRequest& request, const Json& result) {
    const auto logged = result.find("warnings");
    if (logged == result.end()) return;
    const std::string adapter =
        string_in(given_below(given_below(&request.params, "lora_adapter"), "lora_adapter_name"));
    unusable_adapters_.insert(adapter);
    throw adapter_unusable(request.method->name, 0, adapter, *logged);
  }

  static RpcError adapter_unusable(std::string_view function, std::optional<int> status, const std::string& adapter,
                                   Json logged) {
    const CallFailed error(function, status,
                           "the adapter " + Json(shortened(adapter)).dump() +
                               " cannot be applied to this model, although the runtime took it: a run with it would "
                               "end the process. Its name is used up; load another one under another name");
    Json data = error.data();
    if (!logged.empty()) data["log"] = std::move(logged);
    return {error.code(), error.what(), std::move(data)};
  }

  std::int64_t entries() const {
    const Values values = model_->values();
    const auto found = values.find("n_batch");
    return found == values.end() ? 1 : found->second;
  }

  const std::unique_ptr<Model> model_;
  std::set<std::string> unusable_adapters_;  // by name; the library has them, and would use them
};

}  // namespace

std::unique_ptr<Model> GuardedEngine::new_model(const std::string& id, LostFunction lost) {
  return std::make_unique<GuardedModel>(engine_->new_model(id, std::move(lost)));
}

}  // namespace rkllm_mcp
