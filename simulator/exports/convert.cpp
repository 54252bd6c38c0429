#include "exports/convert_1_3_0.hpp"

#include "contract.hpp"
#include "exports/code_address.hpp"

#include <algorithm>
#include <cstring>
#include <string_view>
#include <utility>
#include <vector>

namespace rkllm_mcp::sim::v1_3_0 {
namespace {

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

InputContent embed_from(const RKLLMEmbedInput& input, const Session& session) {
  if (input.embed == nullptr) return EmptyInput{};
  EmbedInput embed{input.n_tokens, {}};
  if (input.n_tokens <= session.context()) {
    embed.values.assign(input.embed, input.embed + input.n_tokens * session.embedding_size());
  }
  return embed;
}

// Values stay empty if there are more rows than the context has room for; the engine refuses that.
MediaInput media_from(const float* values, std::size_t count, std::size_t frames, std::size_t tokens_per_frame,
                      const char* start, const char* end, const char* content, const Session& session) {
  MediaInput media;
  if (values == nullptr || count == 0 || frames == 0 || tokens_per_frame == 0) return media;
  const std::size_t room = session.context();
  media.count = count;
  if (frames <= room && tokens_per_frame <= room / frames && count <= room / frames / tokens_per_frame) {
    media.tokens_each = frames * tokens_per_frame;
    media.values.assign(values, values + count * media.tokens_each * session.embedding_size());
  }
  media.start = text_or_null(start);
  media.end = text_or_null(end);
  media.content = text_or_null(content);
  return media;
}

InputContent multimodal_from(const RKLLMMultiModalInput& input, const Session& session) {
  if (input.prompt == nullptr) return EmptyInput{};
  const auto& image = input.image;
  const auto& video = input.video;
  MultimodalInput multimodal;
  multimodal.text = input.prompt;
  multimodal.image_width = image.image_width;
  multimodal.image_height = image.image_height;
  multimodal.images = media_from(image.image_embed, image.n_image, 1, image.n_image_tokens, image.image_start,
                                 image.image_end, image.image_content, session);
  multimodal.videos = media_from(video.video_embed, video.n_video, video.n_frame_per_video, video.n_frame_tokens,
                                 video.video_start, video.video_end, video.video_content, session);
  if (multimodal.images.count == 0 && multimodal.videos.count == 0) return EmptyInput{};
  return multimodal;
}

InputContent content_from(const RKLLMInput& input, const Session& session) {
  switch (number_of(input.input_type)) {
    case RKLLM_INPUT_PROMPT:
      if (input.prompt_input == nullptr) return EmptyInput{};
      return PromptInput{input.prompt_input};
    case RKLLM_INPUT_TOKEN: {
      const RKLLMTokenInput& tokens = input.token_input;
      if (tokens.input_ids == nullptr) return EmptyInput{};
      return TokenInput{{tokens.input_ids, tokens.input_ids + tokens.n_tokens}};
    }
    case RKLLM_INPUT_EMBED: return embed_from(input.embed_input, session);
    case RKLLM_INPUT_MULTIMODAL: return multimodal_from(input.multimodal_input, session);
    default: return UnknownInput{};
  }
}

Mode mode_from(const RKLLMInferMode& mode) {
  switch (number_of(mode)) {
    case RKLLM_INFER_GET_LAST_HIDDEN_LAYER: return Mode::kLastHiddenLayer;
    case RKLLM_INFER_GET_LOGITS: return Mode::kLogits;
    default: return Mode::kGenerate;  // as the vendor's: a number that is no mode generates
  }
}

RKLLMPerfStat perf_from(const Perf& perf) {
  return {perf.prefill_time_ms, perf.prefill_tokens, perf.generate_time_ms, perf.generate_tokens, perf.memory_usage_mb};
}

// The callbacks of one handle. Used on the thread of the run.
class Callbacks final : public Client {
 public:
  // `callback` may be null. One that points at code is a function, as runtimes up to 1.2 took it; the first run finds
  // out.
  Callbacks(const RKLLMCallback* callback, std::size_t n_batch)
      : is_function_(callback != nullptr && is_code(callback)),
        callback_(callback == nullptr || is_function_ ? RKLLMCallback{} : *callback),
        results_(n_batch) {}

  int deliver(std::span<const Output> outputs, State state, void* userdata) override {
    if (is_function_) {
      broken_contract(Death::kSegmentationFault,
                      "rkllm_run: rkllm_init was given a function (the interface of 1.2), not a RKLLMCallback");
    }
    if (callback_.result_callback == nullptr) return 0;
    for (std::size_t i = 0; i < outputs.size(); ++i) fill(results_[i], outputs[i]);
    return callback_.result_callback(outputs.empty() ? nullptr : results_.data(),
                                     userdata == nullptr ? callback_.result_userdata : userdata,
                                     static_cast<LLMCallState>(state));
  }

  bool has_tokenizer() const override { return callback_.tokenizer_callback != nullptr; }
  int tokenize(const char* text, std::size_t length, std::span<TokenId> ids) override {
    return callback_.tokenizer_callback(callback_.tokenizer_userdata, text, static_cast<std::int32_t>(length),
                                        ids.data(), static_cast<std::int32_t>(ids.size()));
  }

  bool has_embedder() const override { return callback_.embed_callback != nullptr; }
  int embed(std::span<TokenId> ids, std::span<float> rows) override {
    return callback_.embed_callback(callback_.embed_userdata, ids.data(), ids.size(), rows.data(), rows.size_bytes());
  }

 private:
  static void fill(RKLLMResult& result, const Output& output) {
    result.text = output.text;
    result.token_id = output.token;
    result.last_hidden_layer = {output.hidden.values, static_cast<int>(output.hidden.columns),
                                static_cast<int>(output.hidden.rows)};
    result.logits = {output.logits.values, static_cast<int>(output.logits.columns),
                     static_cast<int>(output.logits.rows)};
    result.perf = perf_from(output.perf);
  }

  const bool is_function_;
  const RKLLMCallback callback_;
  std::vector<RKLLMResult> results_;
};

}  // namespace

Options options_from(const RKLLMParam& param) {
  Options options;
  options.runtime_version = "1.3.0";
  options.model_path = param.model_path;
  options.max_context_len = param.max_context_len;
  options.max_new_tokens = param.max_new_tokens;
  options.n_keep = param.n_keep;
  options.sampling = sampling_from(param);
  options.skip_special_token = param.skip_special_token;
  options.ignore_eos_token = param.ignore_eos_token;
  options.is_async = param.is_async;
  options.enabled_cpus_num = param.extend_param.enabled_cpus_num;
  options.enabled_cpus_mask = param.extend_param.enabled_cpus_mask;
  options.base_domain_id = param.extend_param.base_domain_id;
  options.n_batch = param.extend_param.n_batch;
  options.use_cross_attn = param.extend_param.use_cross_attn != 0;
  return options;
}

RunRequest request_from(const RKLLMInput* input, const RKLLMInferParam& params, void* userdata,
                        const Session& session) {
  RunRequest request;
  for (std::size_t i = 0; i < session.n_batch(); ++i) {
    const bool from_tool = input[i].role != nullptr && std::string_view(input[i].role) == "tool";
    request.inputs.push_back({content_from(input[i], session), from_tool, input[i].enable_thinking});
  }
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
  if (params.sampling_params != nullptr) request.sampling = sampling_from(*params.sampling_params);
  request.keep_history = params.keep_history != 0;
  request.max_new_tokens = params.max_new_tokens;
  request.userdata = userdata;
  return request;
}

std::unique_ptr<Client> client_for(const RKLLMCallback* callback, int n_batch) {
  return std::make_unique<Callbacks>(callback, static_cast<std::size_t>(std::max(n_batch, 1)));
}

}  // namespace rkllm_mcp::sim::v1_3_0
