// Arguments for every tool: good ones, and one fault each.
//
// `handle` is one that the fast model of `place` was loaded as, except where a sample says otherwise.

const kWeatherTool = {
  type: 'function',
  function: { name: 'get_weather', description: 'Weather of a place', parameters: { type: 'object' } },
};

// All samples of these succeed on a handle, in this order: [tool, arguments].
export function handle_samples(place, handle) {
  const cache = `${place.directory}/prompt.cache`;
  return [
    ['rkllm_is_running', { handle }],
    ['rkllm_is_running', {}],
    ['rkllm_set_function_tools',
      { handle, system_prompt: 'Be brief.', tools: [kWeatherTool], tool_response_str: 'tool_response' }],
    ['rkllm_set_function_tools',
      { handle, system_prompt: '', tools: JSON.stringify(kWeatherTool), tool_response_str: 'tool_response' }],
    ['rkllm_set_chat_template',
      { handle, system_prompt: 'You are kind.', prompt_prefix: '<|user|>', prompt_postfix: '<|bot|>' }],
    ['rkllm_load_lora',
      { handle, lora_adapter: { lora_adapter_path: place.lora, lora_adapter_name: 'kind', scale: 0.5 } }],
    ...run_samples(place, handle, 'rkllm_run'),
    ...run_samples(place, handle, 'rkllm_run_async'),
    ['rkllm_load_prompt_cache', { handle, prompt_cache_path: cache }],
    ['rkllm_release_prompt_cache', { handle }],
    ['rkllm_get_kv_cache_size', { handle }],
    ['rkllm_clear_kv_cache', { handle, keep_system_prompt: true }],
    ['rkllm_clear_kv_cache', { handle, keep_system_prompt: false }],
    ['rkllm_abort', { handle }],
  ];
}

// The first two runs tell the server how wide the model's vectors and its vocabulary are, which the others need.
function run_samples(place, handle, tool) {
  const mode = (name, more = {}) => ({ mode: name, ...more });
  const image = {
    image_embed: [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8],
    n_image_tokens: 2,
    n_image: 1,
    image_start: '<img>',
    image_end: '</img>',
    image_content: '<pad>',
    image_width: 28,
    image_height: 28,
  };
  const video = {
    video_embed: image.image_embed,
    n_frame_tokens: 1,
    n_frame_per_video: 2,
    n_video: 1,
    video_start: '',
    video_end: '',
    video_content: '<pad>',
    frame_width: 28,
    frame_height: 28,
  };
  const everything = mode('RKLLM_INFER_GENERATE', {
    lora_params: { lora_adapter_name: 'kind' },
    prompt_cache_params: { save_prompt_cache: true, prompt_cache_path: `${place.directory}/prompt.cache` },
    sampling_params: {
      top_k: 5,
      top_p: 0.5,
      temperature: 0.7,
      repeat_penalty: 1.2,
      frequency_penalty: 0.1,
      presence_penalty: -0.1,
      mirostat: 0,
      mirostat_tau: 5,
      mirostat_eta: 0.1,
    },
    keep_history: false,
    max_new_tokens: 6,
  });
  const inputs = [
    [{ prompt_input: 'Hello' }, mode('RKLLM_INFER_GET_LAST_HIDDEN_LAYER')],
    [{ prompt_input: 'Hello' }, mode('RKLLM_INFER_GET_LOGITS', { max_new_tokens: 1 })],
    [{ role: 'user', enable_thinking: false, input_type: 'RKLLM_INPUT_PROMPT', prompt_input: 'Hello' }, everything],
    [{ input_type: 'RKLLM_INPUT_TOKEN', token_input: { input_ids: [1, 2, 3], n_tokens: 3 } }],
    [{ input_type: 'RKLLM_INPUT_EMBED', embed_input: { embed: [0.1, 0.2, 0.3, 0.4], n_tokens: 1 } }],
    [{ input_type: 'RKLLM_INPUT_MULTIMODAL', multimodal_input: { prompt: 'What is <image>?', image } }],
    [{ input_type: 'RKLLM_INPUT_MULTIMODAL', multimodal_input: { prompt: 'What is <video>?', video } }],
  ];
  return inputs.map(([rkllm_input, rkllm_infer_params]) => [
    tool,
    { handle, rkllm_input, ...(rkllm_infer_params && { rkllm_infer_params }) },
  ]);
}

// Embeddings as base64, which other samples give as numbers.
export function array_samples(handle, tool) {
  if (!['rkllm_run', 'rkllm_run_async'].includes(tool)) return [];
  const embed = { base64: 'AACAPwAAAEAAAEBAAACAQA==', dtype: 'float32' };
  return [[tool, { handle, rkllm_input: { input_type: 'RKLLM_INPUT_EMBED', embed_input: { embed } } }]];
}

// For a handle with n_batch 2.
export function batch_samples(handle) {
  return [{ handle, rkllm_input: [{ prompt_input: 'Hello' }, { role: 'user', prompt_input: 'there' }] }];
}

export function init_sample(place, name = 'fast', extend_param = {}) {
  return {
    param: {
      model_path: place.model[name],
      max_context_len: 1024,
      max_new_tokens: 64,
      top_k: 1,
      n_keep: -1,
      top_p: 0.95,
      temperature: 0.8,
      repeat_penalty: 1.1,
      frequency_penalty: 0,
      presence_penalty: 0,
      mirostat: 0,
      mirostat_tau: 5,
      mirostat_eta: 0.1,
      skip_special_token: true,
      ignore_eos_token: false,
      is_async: true,
      extend_param: {
        base_domain_id: 0,
        embed_flash: true,
        enabled_cpus_num: 1,
        enabled_cpus_mask: 1,
        n_batch: 1,
        use_cross_attn: name === 'cross',
        ...extend_param,
      },
    },
  };
}

// Good arguments that the runtime refuses, since no run is paused.
export function clear_range_sample(handle) {
  return { handle, keep_system_prompt: false, start_pos: [0], end_pos: [1] };
}

// For a handle of the model `cross`.
export function cross_attention_sample(handle) {
  return {
    handle,
    cross_attn_params: {
      encoder_k_cache: [0.1, 0.2, 0.3, 0.4],
      encoder_v_cache: [0.1, 0.2, 0.3, 0.4],
      encoder_mask: [1, 1],
      encoder_pos: [0, 1],
      num_tokens: 2,
    },
  };
}

// [tool, arguments, the path that the complaint must name]
export function faults(place, handle) {
  const run = (tool) => [
    [tool, { handle }, 'params.rkllm_input'],
    [tool, { handle, rkllm_input: {} }, 'params.rkllm_input.prompt_input'],
    [tool, { handle, rkllm_input: { prompt_input: 7 } }, 'params.rkllm_input.prompt_input'],
    [tool, { handle, rkllm_input: { prompt_input: 'x', tokens: [] } }, 'params.rkllm_input.tokens'],
    [tool, { handle, rkllm_input: { prompt_input: 'x' }, rkllm_infer_params: { mode: 'FAST' } },
      'params.rkllm_infer_params.mode'],
    [tool, { handle, rkllm_input: { prompt_input: 'x' }, rkllm_infer_params: { sampling_params: { top_p: 2 } } },
      'params.rkllm_infer_params.sampling_params.top_p'],
    [tool, { handle, rkllm_input: { prompt_input: 'x' }, progress_message: 'loud' }, 'params.progress_message'],
  ];
  return [
    ['rkllm_createDefaultParam', { param: {} }, 'params.param'],
    ['rkllm_init', {}, 'params.param'],
    ['rkllm_init', { param: {} }, 'params.param.model_path'],
    ['rkllm_init', { param: { model_path: place.model.fast, top_k: 'many' } }, 'params.param.top_k'],
    ['rkllm_init', { param: { model_path: place.model.fast, top_k: 2 ** 31 } }, 'params.param.top_k'],
    ['rkllm_init', { param: { model_path: place.model.fast, topk: 1 } }, 'params.param.topk'],
    ['rkllm_init', { param: { model_path: place.model.fast, extend_param: { n_batch: 0 } } },
      'params.param.extend_param.n_batch'],
    ['rkllm_load_lora', { handle, lora_adapter: { lora_adapter_name: 'x' } }, 'params.lora_adapter.lora_adapter_path'],
    ['rkllm_load_prompt_cache', { handle, prompt_cache_path: null }, 'params.prompt_cache_path'],
    ['rkllm_release_prompt_cache', { handle, path: 'x' }, 'params.path'],
    ['rkllm_destroy', { handle: 1 }, 'params.handle'],
    ...run('rkllm_run'),
    ...run('rkllm_run_async'),
    ['rkllm_abort', { handle: true }, 'params.handle'],
    ['rkllm_is_running', { handle: {} }, 'params.handle'],
    ['rkllm_clear_kv_cache', { handle, keep_system_prompt: 2 }, 'params.keep_system_prompt'],
    ['rkllm_clear_kv_cache', { handle, keep_system_prompt: false, start_pos: [0] }, 'params.end_pos'],
    ['rkllm_get_kv_cache_size', { handle, cache_sizes: [0] }, 'params.cache_sizes'],
    ['rkllm_set_chat_template', { handle, system_prompt: '', prompt_prefix: 1, prompt_postfix: '' },
      'params.prompt_prefix'],
    ['rkllm_set_function_tools', { handle, system_prompt: '', tools: 'no JSON', tool_response_str: 'x' },
      'params.tools'],
    ['rkllm_set_cross_attn_params', { handle, cross_attn_params: [] }, 'params.cross_attn_params'],
  ];
}
