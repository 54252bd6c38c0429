#include "backend/guarded_engine.hpp"

#include "jsonrpc/unread.hpp"

#include <rkllm_mcp/errors.hpp>

#include <algorithm>
#include <exception>
#include <optional>
#include <set>
#include <string_view>

namespace rkllm_mcp {
namespace {

constexpr int kMultimodal = 3;  // RKLLM_INPUT_MULTIMODAL
constexpr std::string_view kLoadsAdapter = "rkllm_load_lora";

// The member of an object that is neither absent nor null; null if it is. What is no object has none: the stub, which
// reads everything, will say so.
const Json* member_of(const Json* object, const char* name) {
  if (object == nullptr || !object->is_object()) return nullptr;
  const auto found = object->find(name);
  return found == object->end() || found->is_null() ? nullptr : &*found;
}

// Whether a part of a long message stands unread where the checks below look. (Rows of numbers are deeper.)
bool hides_something(const Json& value, int levels) {
  if (value.is_binary()) return true;
  if (levels == 0 || !value.is_structured()) return false;
  const int below = value.is_array() ? levels : levels - 1;
  return std::any_of(value.begin(), value.end(), [below](const Json& each) { return hides_something(each, below); });
}

bool is_set(const Json* flag) {
  if (flag == nullptr) return false;
  return flag->is_boolean() ? flag->get<bool>() : flag->is_number() && flag->get<double>() != 0;
}

std::string string_in(const Json* text) {
  return text != nullptr && text->is_string() ? text->get<std::string>() : std::string();
}

void require_image(const Json* input, const std::string& path) {
  const Json* const type = member_of(input, "input_type");
  if (type == nullptr || (*type != "RKLLM_INPUT_MULTIMODAL" && *type != kMultimodal)) return;
  const Json* const multimodal = member_of(input, "multimodal_input");
  if (multimodal == nullptr || !multimodal->is_object()) return;
  if (member_of(multimodal, "image") != nullptr || member_of(multimodal, "video") != nullptr) return;
  throw InvalidParams(path + ".multimodal_input.image",
                      "required if there is no video: without either the runtime takes the input for none at all");
}

class GuardedModel final : public Model {
 public:
  explicit GuardedModel(std::unique_ptr<Model> model) : model_(std::move(model)) {}

  void begin_run(std::shared_ptr<CallObserver> observer) override { model_->begin_run(std::move(observer)); }

  CallOutcome call(const CallRequest& request) override {
    CallOutcome outcome;
    try {
      if (request.method->streams) {
        const Json whole = hides_something(request.params, 2) ? read_whole(request.params) : Json();
        check_run(*request.method, whole.is_null() ? request.params : whole);
      }
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
    const Json* const infer = member_of(&params, "rkllm_infer_params");
    if (is_set(member_of(infer, "keep_history")) && entries() > 1) {
      throw InvalidParams(
          "params.rkllm_infer_params.keep_history",
          "expected 0: with n_batch above 1 the runtime keeps no history, and refuses every run after one "
          "that asks for it");
    }
    const std::string adapter = string_in(member_of(member_of(infer, "lora_params"), "lora_adapter_name"));
    if (unusable_adapters_.contains(adapter)) throw adapter_unusable(method.name, std::nullopt, adapter, Json::array());

    const Json* const input = member_of(&params, "rkllm_input");
    if (input == nullptr || !input->is_array()) return require_image(input, "params.rkllm_input");
    for (std::size_t at = 0; at < input->size(); ++at) {
      require_image(&(*input)[at], "params.rkllm_input[" + std::to_string(at) + "]");
    }
  }

  void check_adapter(const CallRequest& request, const Json& result) {
    const auto logged = result.find("warnings");
    if (logged == result.end()) return;
    const std::string adapter = string_in(member_of(member_of(&request.params, "lora_adapter"), "lora_adapter_name"));
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
