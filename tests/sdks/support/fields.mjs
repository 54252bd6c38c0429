// What becomes of each published field, with a value to send: docs/chat.md in the form of a test. `published` says where
// the publisher's SDK declares the request.
import { kPicture } from './board.mjs';

const kSchema = { type: 'object', properties: { a: { type: 'integer' } }, required: ['a'] };
const kFunction = { name: 'f', parameters: { type: 'object', properties: {} } };
const kTool = { type: 'function', function: kFunction };

const sampling = { temperature: 0.5, top_p: 0.9 };
const penalties = { frequency_penalty: 0.5, presence_penalty: 0.5 };
const user = (content) => ({ role: 'user', content });

const openai_chat = {
  path: '/v1/chat/completions',
  published: [{ file: 'openai/resources/chat/completions/completions.d.ts', name: 'ChatCompletionCreateParamsBase' }],
  base: (model, text) => ({ model, messages: [user(text)] }),
  honoured: {
    ...sampling, ...penalties, stream: true, stream_options: { include_usage: true }, timings_per_token: true, max_completion_tokens: 20, max_tokens: 20,
    stop: ['!!'], n: 2, response_format: { type: 'json_schema', json_schema: { name: 'n', schema: kSchema } }, tools: [kTool],
    tool_choice: 'auto', parallel_tool_calls: false, reasoning_effort: 'minimal', modalities: ['text'], top_k: 5,
    repeat_penalty: 1.1, repetition_penalty: 1.1, mirostat: 0, mirostat_tau: 5, mirostat_eta: 0.1, truncate: 'oldest_turns',
    chat_template_kwargs: { enable_thinking: false }, messages: [user('Hello')],
  },
  ignored: {
    seed: 1, logprobs: true, top_logprobs: 2, logit_bias: { 5: 1 }, user: 'ann', metadata: { a: 'b' }, store: true, service_tier: 'flex',
    prediction: { type: 'content', content: 'x' }, verbosity: 'low', safety_identifier: 'x', prompt_cache_key: 'x',
    prompt_cache_options: { mode: 'explicit' }, prompt_cache_retention: '24h', min_p: 0.1, return_progress: true,
    cache_prompt: true,
  },
  refused: {
    audio: { voice: 'alloy', format: 'wav' }, moderation: { model: 'omni-moderation-latest' }, functions: [kFunction], function_call: 'auto',
    web_search_options: { search_context_size: 'low' },
  },
};
openai_chat.honoured.model = 'qwen3-small';

const openai_completion = {
  path: '/v1/completions',
  published: [{ file: 'openai/resources/completions.d.ts', name: 'CompletionCreateParamsBase' }],
  base: (model, prompt) => ({ model, prompt }),
  honoured: { ...sampling, ...penalties, model: 'qwen3-small', prompt: ['@n=2'], stream: true, stream_options: { include_usage: true }, max_tokens: 5,
    stop: '!!', n: 2, top_k: 5, repeat_penalty: 1.1 },
  ignored: { best_of: 2, seed: 1, logprobs: 2, logit_bias: { 5: 1 }, user: 'ann' },
  refused: { echo: true, suffix: 'x' },
};

const responses = {
  path: '/v1/responses',
  published: [{ file: 'openai/resources/responses/responses.d.ts', name: 'ResponseCreateParamsBase' }],
  base: (model, input) => ({ model, input }),
  honoured: {
    ...sampling, ...penalties, model: 'qwen3-small', input: [user('Hello')], instructions: 'Be brief.', stream: true, max_output_tokens: 20,
    tools: [{ type: 'function', ...kFunction }], tool_choice: 'auto', parallel_tool_calls: false, top_k: 5,
    text: { format: { type: 'json_schema', name: 'n', schema: kSchema } }, reasoning: { effort: 'minimal' }, truncation: 'auto',
    store: true, previous_response_id: 'resp_gone', metadata: { a: 'b' },
  },
  statuses: { previous_response_id: 404 },
  ignored: {
    access_programs: { a: true }, include: ['reasoning.encrypted_content'], user: 'ann', safety_identifier: 'x', service_tier: 'flex',
    prompt_cache_key: 'x', prompt_cache_options: { mode: 'explicit' }, prompt_cache_retention: '24h', max_tool_calls: 3, top_logprobs: 2,
    stream_options: { include_obfuscation: false }, context_management: [{ type: 'compaction' }], image: { detail: 'low' },
  },
  refused: { background: true, conversation: 'conv_1', prompt: { id: 'pmpt_1' }, moderation: { model: 'omni-moderation-latest' } },
};

const openai_embeddings = {
  path: '/v1/embeddings',
  published: [{ file: 'openai/resources/embeddings.d.ts', name: 'EmbeddingCreateParams' }],
  base: (model) => ({ model, input: 'a cat' }),
  honoured: { model: 'qwen3-small', input: ['a', 'b'], dimensions: 4, encoding_format: 'base64' },
  ignored: { user: 'ann' },
  refused: {},
};

const ollama_common = { model: 'qwen3-small', stream: false, format: 'json', options: { num_predict: 20 }, keep_alive: '5m', think: false };
const ollama_ignored = { logprobs: true, top_logprobs: 2, truncate: true, shift: true };

const ollama_chat = {
  path: '/api/chat',
  published: [{ file: 'ollama/dist/browser.d.ts', name: 'ChatRequest' }],
  base: (model, text) => ({ model, messages: [user(text)] }),
  honoured: { ...ollama_common, messages: [user('Hello')], tools: [kTool] },
  ignored: ollama_ignored,
  refused: {},
};

const ollama_generate = {
  path: '/api/generate',
  published: [{ file: 'ollama/dist/browser.d.ts', name: 'GenerateRequest' }],
  base: (model, prompt) => ({ model, prompt }),
  honoured: { ...ollama_common, prompt: 'Hello', system: 'Be brief.', raw: true, images: [kPicture.split(',')[1]] },
  statuses: { images: 400 }, // there is no vision encoder
  ignored: { ...ollama_ignored, context: [1, 2] },
  refused: { suffix: 'x', template: '{{ .Prompt }}', width: 512, height: 512, steps: 20 },
};

const ollama_embed = {
  path: '/api/embed',
  published: [{ file: 'ollama/dist/browser.d.ts', name: 'EmbedRequest' }],
  base: (model) => ({ model, input: 'a cat' }),
  honoured: { model: 'qwen3-small', input: ['a', 'b'], truncate: true, dimensions: 4, keep_alive: 300 },
  ignored: { options: { num_ctx: 512 } },
  refused: {},
};

const ollama_embeddings = {
  path: '/api/embeddings',
  published: [{ file: 'ollama/dist/browser.d.ts', name: 'EmbeddingsRequest' }],
  base: (model) => ({ model, prompt: 'a cat' }),
  honoured: { model: 'qwen3-small', prompt: 'x', keep_alive: 300 },
  ignored: { options: { num_ctx: 512 } },
  refused: {},
};

const ollama_show = {
  path: '/api/show',
  published: [{ file: 'ollama/dist/browser.d.ts', name: 'ShowRequest' }],
  base: (model) => ({ model }),
  honoured: { model: 'qwen3-small' },
  ignored: { system: 'Be brief.', template: 'x', options: { num_ctx: 512 }, verbose: true },
  refused: {},
};

const anthropic = {
  path: '/v1/messages',
  published: ['messages/messages.d.ts', 'beta/messages/messages.d.ts'].map((file) => (
    { file: `@anthropic-ai/sdk/resources/${file}`, name: 'MessageCreateParamsBase' })),
  base: (model, text) => ({ model, max_tokens: 20, messages: [user(text)] }),
  honoured: {
    ...sampling, model: 'qwen3-small', messages: [user('Hello')], max_tokens: 9, system: [{ type: 'text', text: 'Be brief.' }], stop_sequences: ['!!'],
    stream: true, top_k: 5, tools: [{ ...kFunction, parameters: undefined, input_schema: kFunction.parameters }], tool_choice: { type: 'auto' },
    thinking: { type: 'disabled' }, output_config: { format: { type: 'json_schema', schema: kSchema } },
    output_format: { type: 'json_schema', schema: kSchema },
  },
  ignored: {
    metadata: { user_id: 'u' }, service_tier: 'auto', cache_control: { type: 'ephemeral' }, inference_geo: 'us', speed: 'fast',
    context_management: { edits: [] }, diagnostics: { previous_message_id: 'msg_1' }, billing_policy: { type: 'x' }, fallbacks: 'default',
    fallback_credit_token: 'x', betas: ['x'],
  },
  refused: {
    container: 'c', mcp_servers: [{ type: 'url', url: 'http://127.0.0.1:1/', name: 'n' }], compaction: { type: 'summarize' }, thread: { type: 'create' },
  },
};

export const kRequests = [openai_chat, openai_completion, responses, openai_embeddings, ollama_chat, ollama_generate, ollama_embed,
  ollama_embeddings, ollama_show, anthropic];

// Something that is of no type that the field may have.
export const kWrong = (value) => (typeof value === 'boolean' ? { wrong: true } : true);

const kCached = { type: 'ephemeral' };

// Fields inside of fields that are ignored or refused.
const kIgnoredOptions = { seed: 1, min_p: 0.1, typical_p: 0.9, tfs_z: 1, repeat_last_n: 64, penalize_newline: true, num_keep: 5, num_batch: 8,
  num_gpu: 1, main_gpu: 1, num_thread: 4, low_vram: true, use_mmap: true, use_mlock: true, numa: true, logits_all: true, vocab_only: true,
  embedding_only: true };

export const kNestedFields = [
  { path: '/api/chat', fields: { options: { ...kIgnoredOptions, num_ctx: 8192 } },
    names: [...Object.keys(kIgnoredOptions), 'num_ctx'].map((name) => `options.${name}`) },
  { path: '/v1/responses', fields: { tools: [{ type: 'web_search' }] }, names: ['tools[0]'] },
  { path: '/v1/responses', fields: { text: { verbosity: 'low' } }, names: ['text.verbosity'] },
  { path: '/v1/responses', fields: { reasoning: { effort: 'none', summary: 'auto', generate_summary: 'auto', context: 'auto', mode: 'standard' } },
    names: ['summary', 'generate_summary', 'context', 'mode'].map((name) => `reasoning.${name}`) },
  { path: '/v1/responses',
    fields: { tools: [{ type: 'function', ...kFunction, strict: true, allowed_callers: ['direct'], async: true, defer_loading: true,
      output_schema: kSchema }] },
    names: ['strict', 'allowed_callers', 'async', 'defer_loading', 'output_schema'].map((name) => `tools[].${name}`) },
  { path: '/v1/chat/completions', fields: { stream: true, stream_options: { include_usage: true, include_obfuscation: true } },
    names: ['stream_options.include_obfuscation'] },
  { path: '/v1/completions', fields: { stream: true, stream_options: { include_obfuscation: true } },
    names: ['stream_options.include_obfuscation'] },
  { path: '/v1/chat/completions', fields: { tools: [{ type: 'function', function: { ...kFunction, strict: true } }] },
    names: ['tools[].function.strict'] },
  { path: '/v1/chat/completions',
    fields: { messages: [{ ...user([{ type: 'text', text: 'Hello', prompt_cache_breakpoint: { mode: 'explicit' } }]), name: 'ann' },
      { role: 'assistant', content: 'Hi', audio: { id: 'a' } }, user('Hello')] },
    names: ['messages[].name', 'messages[].audio', 'messages[].content[].prompt_cache_breakpoint'] },
  { path: '/v1/chat/completions', fields: { messages: [{ role: 'assistant', function_call: { name: 'f', arguments: '{}' } }] },
    names: ['messages[].function_call'], refused: true },
  { path: '/v1/chat/completions',
    fields: { response_format: { type: 'json_schema', json_schema: { name: 'n', strict: true, description: 'd', schema: kSchema } } },
    names: ['response_format.json_schema.description'] },
  { path: '/v1/responses', fields: { text: { format: { type: 'json_schema', name: 'n', strict: true, description: 'd', schema: kSchema } } },
    names: ['text.format.description'] },
  { path: '/v1/messages', fields: { thinking: { type: 'disabled', budget_tokens: 2000, display: 'omitted' } },
    names: ['thinking.budget_tokens', 'thinking.display'] },
  { path: '/v1/messages', fields: { output_config: { effort: 'low', task_budget: { type: 'tokens', total: 5 } } },
    names: ['output_config.effort', 'output_config.task_budget'] },
  { path: '/v1/messages', fields: { system: [{ type: 'text', text: 'Be brief.', cache_control: kCached, citations: [{ type: 'x' }] }] },
    names: ['system[].cache_control', 'system[].citations'] },
  { path: '/v1/messages',
    fields: { tools: [{ name: 'f', input_schema: kFunction.parameters, cache_control: kCached, strict: true, allowed_callers: ['direct'],
      defer_loading: true, eager_input_streaming: true, input_examples: [{ a: 1 }] }] },
    names: ['cache_control', 'strict', 'allowed_callers', 'defer_loading', 'eager_input_streaming', 'input_examples'].map(
      (name) => `tools[].${name}`) },
  { path: '/v1/messages',
    fields: { messages: [
      user([{ type: 'document', source: { type: 'text', media_type: 'text/plain', data: 'x' }, title: 't', context: 'c', citations: { enabled: true },
        cache_control: kCached }]),
      { role: 'assistant', content: [{ type: 'tool_use', id: 'c1', name: 'f', input: {}, caller: { type: 'direct' }, toolset_name: 't' }] },
      user([{ type: 'tool_result', tool_use_id: 'c1', content: 'y', toolset_name: 't' }])] },
    names: ['cache_control', 'citations', 'caller', 'toolset_name'].map((name) => `messages[].content[].${name}`) },
  { path: '/v1/chat/completions', fields: { tools: [{ type: 'custom', custom: { name: 'x' } }] }, names: ['tools[0].type'], refused: true },
  { path: '/v1/messages', fields: { tools: [{ type: 'web_search_20250305', name: 'web_search' }] }, names: ['tools[0].type'], refused: true },
];

// Where the publishers declare fields inside of fields; `honoured` are those of their members that are, and the rest stands
// in kNestedFields.
const kAnthropic = '@anthropic-ai/sdk/resources';
const kBlock = { path: '/v1/messages', file: `${kAnthropic}/messages/messages.d.ts`, at: 'messages[].content[].' };
export const kNestedPublished = [
  { path: '/v1/chat/completions', file: 'openai/resources/chat/completions/completions.d.ts', name: 'ChatCompletionStreamOptions',
    at: 'stream_options.', honoured: ['include_usage'] },
  { path: '/v1/chat/completions', file: 'openai/resources/shared.d.ts', name: 'FunctionDefinition', at: 'tools[].function.',
    honoured: ['name', 'description', 'parameters'] },
  { path: '/v1/chat/completions', file: 'openai/resources/chat/completions/completions.d.ts', name: 'ChatCompletionUserMessageParam',
    at: 'messages[].', honoured: ['content', 'role'] },
  { path: '/v1/chat/completions', file: 'openai/resources/chat/completions/completions.d.ts', name: 'ChatCompletionAssistantMessageParam',
    at: 'messages[].', honoured: ['content', 'role', 'refusal', 'tool_calls'] },
  { path: '/v1/chat/completions', file: 'openai/resources/chat/completions/completions.d.ts', name: 'ChatCompletionContentPartText',
    at: 'messages[].content[].', honoured: ['text', 'type'] },
  { path: '/v1/responses', file: 'openai/resources/shared.d.ts', name: 'Reasoning', at: 'reasoning.', honoured: ['effort'] },
  { path: '/v1/responses', file: 'openai/resources/responses/responses.d.ts', name: 'FunctionTool', at: 'tools[].',
    honoured: ['name', 'parameters', 'type', 'description'] },
  { path: '/v1/responses', file: 'openai/resources/responses/responses.d.ts', name: 'ResponseFormatTextJSONSchemaConfig', at: 'text.format.',
    honoured: ['name', 'schema', 'type', 'strict'] },
  { path: '/v1/responses', file: 'openai/resources/responses/responses.d.ts', name: 'ResponseTextConfig', at: 'text.', honoured: ['format'] },
  ...['messages/messages.d.ts Tool', 'beta/messages/messages.d.ts BetaTool'].map((place) => place.split(' ')).map(([file, name]) => (
    { path: '/v1/messages', file: `${kAnthropic}/${file}`, name, at: 'tools[].', honoured: ['input_schema', 'name', 'description', 'type'] })),
  ...['ThinkingConfigEnabled', 'ThinkingConfigAdaptive'].map((name) => (
    { path: '/v1/messages', file: `${kAnthropic}/messages/messages.d.ts`, name, at: 'thinking.', honoured: ['type'] })),
  { path: '/v1/messages', file: `${kAnthropic}/beta/messages/messages.d.ts`, name: 'BetaOutputConfig', at: 'output_config.', honoured: ['format'] },
  { ...kBlock, name: 'TextBlockParam', at: 'system[].', honoured: ['text', 'type'] },
  { ...kBlock, name: 'TextBlockParam', honoured: ['text', 'type'] },
  { ...kBlock, name: 'ToolResultBlockParam', honoured: ['tool_use_id', 'type', 'content', 'is_error'] },
  { ...kBlock, name: 'ToolUseBlockParam', honoured: ['id', 'input', 'name', 'type'] },
  { ...kBlock, name: 'DocumentBlockParam', honoured: ['source', 'type', 'context', 'title'] },
];
