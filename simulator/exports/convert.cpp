#include "exports/convert.hpp"

#include "engine/contract.hpp"
#include "exports/version.hpp"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <string_view>
#include <type_traits>
#include <utility>

namespace rkllm_mcp::sim {
namespace {

// What differs between the sets is a template, so that it may ask for fields that a set lacks.

template <class Params>
Sampling sampling_from(const Params& params) {
  return {params.top_k,
          params.top_p,
          params.temperature,
          params.repeat_penalty,
          params.frequency_penalty,
          params.presence_penalty,
          params.mirostat,
          params.mirostat_tau,
          params.mirostat_eta};
}

// An enumerator as the number that is really there: callers may have put any int.
template <class Enum>
int number_of(const Enum& value) {
  static_assert(sizeof(Enum) == sizeof(int));
  int number = 0;
  std::memcpy(&number, &value, sizeof number);
  return number;
}

std::optional<std::string> text_or_null(const char* text) {
  return text == nullptr ? std::nullopt : std::optional<std::string>(text);
}

InputContent embed_from(const RKLLMEmbedInput& input, const CheckedInstance& instance) {
  if (input.embed == nullptr) return EmptyInput{};
  EmbedInput embed{input.n_tokens, {}};
  if (input.n_tokens <= instance.context()) {
    embed.values.assign(input.embed, input.embed + input.n_tokens * instance.embedding_size());
  }
  return embed;
}

// Values stay empty if there are more rows than the context has room for; the engine refuses that.
MediaInput media_from(const float* values, std::size_t count, std::size_t frames, std::size_t tokens_per_frame,
                      MediaTexts texts, const CheckedInstance& instance) {
  MediaInput media;
  if (values == nullptr || count == 0 || frames == 0 || tokens_per_frame == 0) return media;
  const std::size_t room = instance.context();
  media.count = count;
  if (frames <= room && tokens_per_frame <= room / frames && count <= room / frames / tokens_per_frame) {
    media.tokens_each = frames * tokens_per_frame;
    media.values.assign(values, values + count * media.tokens_each * instance.embedding_size());
  }
  media.texts = std::move(texts);
  return media;
}

// Since 1.3.0: images and videos, each with its texts.
template <class Multimodal>
requires requires(Multimodal input) { input.image; }
void read_media(const Multimodal& input, const CheckedInstance& instance, MultimodalInput& multimodal) {
  const auto& image = input.image;
  const auto& video = input.video;
  multimodal.image_width = image.image_width;
  multimodal.image_height = image.image_height;
  multimodal.images = media_from(
      image.image_embed, image.n_image, 1, image.n_image_tokens,
      {text_or_null(image.image_start), text_or_null(image.image_end), text_or_null(image.image_content)}, instance);
  multimodal.videos = media_from(
      video.video_embed, video.n_video, video.n_frame_per_video, video.n_frame_tokens,
      {text_or_null(video.video_start), text_or_null(video.video_end), text_or_null(video.video_content)}, instance);
}

// Before 1.3.0: images with the texts that rkllm_init was given; before 1.2.1b1 one image, without its size.
template <class Multimodal>
requires requires(Multimodal input) { input.image_embed; }
void read_media(const Multimodal& input, const CheckedInstance& instance, MultimodalInput& multimodal) {
  std::size_t count = 1;
  if constexpr (requires { input.n_image; }) {
    count = input.n_image;
    multimodal.image_width = input.image_width;
    multimodal.image_height = input.image_height;
  }
  multimodal.images = media_from(input.image_embed, count, 1, input.n_image_tokens, instance.image_texts(), instance);
}

template <class Multimodal>
InputContent multimodal_from(const Multimodal& input, const CheckedInstance& instance) {
  if (input.prompt == nullptr) return EmptyInput{};
  MultimodalInput multimodal;
  multimodal.text = input.prompt;
  read_media(input, instance, multimodal);
  if (multimodal.images.count == 0 && multimodal.videos.count == 0) return EmptyInput{};
  return multimodal;
}

InputContent content_from(const RKLLMInput& input, const CheckedInstance& instance) {
  switch (number_of(input.input_type)) {
    case RKLLM_INPUT_PROMPT:
      if (input.prompt_input == nullptr) return EmptyInput{};
      return PromptInput{input.prompt_input};
    case RKLLM_INPUT_TOKEN: {
      const RKLLMTokenInput& tokens = input.token_input;
      if (tokens.input_ids == nullptr) return EmptyInput{};
      return TokenInput{{tokens.input_ids, tokens.input_ids + tokens.n_tokens}};
    }
    case RKLLM_INPUT_EMBED: return embed_from(input.embed_input, instance);
    case RKLLM_INPUT_MULTIMODAL: return multimodal_from(input.multimodal_input, instance);
    default: return UnknownInput{};
  }
}

template <class Given>
Input input_from(const Given& input, const CheckedInstance& instance) {
  // Before 1.2.1 everyone is the user, and a model that thinks cannot be told not to.
  Input read{content_from(input, instance), false, true};
  if constexpr (requires { input.role; }) {
    read.from_tool = input.role != nullptr && std::string_view(input.role) == "tool";
    read.enable_thinking = input.enable_thinking;
  }
  return read;
}

template <class InferMode>
Mode mode_from(const InferMode& mode) {
  const int number = number_of(mode);
  if (number == InferMode::RKLLM_INFER_GET_LAST_HIDDEN_LAYER) return Mode::kLastHiddenLayer;
  if constexpr (requires { InferMode::RKLLM_INFER_GET_LOGITS; }) {
    if (number == InferMode::RKLLM_INFER_GET_LOGITS) return Mode::kLogits;
  }
  return Mode::kGenerate;  // as the vendor's: a number that is no mode generates
}

// Reads the fields of RKLLMInferParam that only later versions have.
template <class InferParam>
void read_later_params(const InferParam& params, RunRequest& request) {
  if constexpr (requires { params.keep_history; }) request.keep_history = params.keep_history != 0;
  if constexpr (requires { params.sampling_params; }) {
    if (params.sampling_params != nullptr) request.sampling = sampling_from(*params.sampling_params);
    request.max_new_tokens = params.max_new_tokens;
  }
}

template <class Param>
Options read_param(const Param& param) {
  Options options;
  options.runtime_version = kVersion;
  options.model_path = param.model_path;
  options.max_context_len = param.max_context_len;
  options.max_new_tokens = param.max_new_tokens;
  options.sampling = sampling_from(param);
  options.skip_special_token = param.skip_special_token;
  options.is_async = param.is_async;
  const auto& extend = param.extend_param;
  options.base_domain_id = extend.base_domain_id;
  if constexpr (requires { param.n_keep; }) options.n_keep = param.n_keep;
  if constexpr (requires { param.ignore_eos_token; }) options.ignore_eos_token = param.ignore_eos_token;
  if constexpr (requires { param.img_start; }) {
    options.image_texts = {text_or_null(param.img_start), text_or_null(param.img_end), text_or_null(param.img_content)};
  }
  if constexpr (requires { extend.enabled_cpus_mask; }) {
    options.enabled_cpus_num = extend.enabled_cpus_num;  // a small number: NOLINT(bugprone-signed-char-misuse)
    options.enabled_cpus_mask = extend.enabled_cpus_mask;
  }
  if constexpr (requires { extend.n_batch; }) {
    options.n_batch = extend.n_batch;
    options.use_cross_attn = extend.use_cross_attn != 0;
  }
  return options;
}

}  // namespace

Options options_from(const RKLLMParam& param) { return read_param(param); }

RunRequest request_from(const RKLLMInput* input, const RKLLMInferParam& params, void* userdata,
                        const CheckedInstance& instance) {
  RunRequest request;
  for (std::size_t i = 0; i < instance.n_batch(); ++i) request.inputs.push_back(input_from(input[i], instance));
  request.mode = mode_from(params.mode);
  if (params.lora_params != nullptr) {
    if (params.lora_params->lora_adapter_name == nullptr) {
      broken_contract(Death::kException, "rkllm_run: lora_params.lora_adapter_name is NULL");
    }
    request.lora = params.lora_params->lora_adapter_name;
  }
  if (params.prompt_cache_params != nullptr && params.prompt_cache_params->save_prompt_cache != 0) {
    const char* path = params.prompt_cache_params->prompt_cache_path;
    request.save_prompt_cache = path == nullptr ? "./prompt_cache.bin" : path;
  }
  read_later_params(params, request);
  request.userdata = userdata;
  return request;
}

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
