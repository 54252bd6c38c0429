#include "exports/result_callback.hpp"

#include <algorithm>
#include <cstddef>
#include <type_traits>

namespace rkllm_mcp::sim {
namespace {

// Templates, so that they may ask for what a set lacks.
template <class Result>
void fill(Result& result, const Output& output) {
  result.text = output.text;
  result.token_id = output.token;
  const auto size = [](std::size_t number) { return static_cast<int>(number); };
  result.last_hidden_layer = {output.hidden.values, size(output.hidden.columns), size(output.hidden.rows)};
  if constexpr (requires { result.logits; }) {
    result.logits = {output.logits.values, size(output.logits.columns), size(output.logits.rows)};
  }
  if constexpr (requires { result.perf; }) {
    const Perf& perf = output.perf;
    result.perf = {perf.prefill_time_ms, perf.prefill_tokens, perf.generate_time_ms, perf.generate_tokens,
                   perf.memory_usage_mb};
  }
}

// Hidden states had a state of their own in 1.1.
template <class CallState>
CallState state_from(State state, std::span<const Output> outputs) {
  if constexpr (requires { CallState::RKLLM_RUN_GET_LAST_HIDDEN_LAYER; }) {
    if (!outputs.empty() && outputs[0].hidden.values != nullptr) return CallState::RKLLM_RUN_GET_LAST_HIDDEN_LAYER;
  }
  return static_cast<CallState>(state);
}

// Callbacks return nothing before 1.2.1.
template <class Return, class... Arguments>
int answer_of(Return (*function)(Arguments...), Arguments... arguments) {
  if constexpr (std::is_void_v<Return>) {
    function(arguments...);
    return 0;
  } else {
    return function(arguments...);
  }
}

}  // namespace

int ResultCallback::call(std::span<const Output> outputs, State state, void* userdata) {
  if (function_ == nullptr) return 0;
  results_.resize(std::max(results_.size(), outputs.size()));
  for (std::size_t i = 0; i < outputs.size(); ++i) fill(results_[i], outputs[i]);
  return answer_of(function_, outputs.empty() ? nullptr : results_.data(), userdata,
                   state_from<LLMCallState>(state, outputs));
}

}  // namespace rkllm_mcp::sim
