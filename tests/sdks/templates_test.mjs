// The prompts of every family are what its published template makes of the same conversation. The templates are written
// anew here, after what each publisher's does, and rendered by @huggingface/jinja, the engine of chat templates. A
// template's BOS is left out: the runtime adds it. Families whose publishers have no form for tools are compared without.
import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';

import { Template } from '@huggingface/jinja';

import { Board, Weather } from './support/board.mjs';

// What a family says about tools in words is data of its file. Here stands where it is written: at ABOVE and BELOW.
const kAbove = '@above@';
const kBelow = '@below@';

const kChatMl = `
{%- macro turn(role, text) -%}<|im_start|>{{ role }}{{ '\\n' + text }}<|im_end|>{{ '\\n' }}{%- endmacro -%}`;

// Qwen's: system text and tools in one turn, calls behind the content, results in a row as one turn of the user.
// "thinks" writes what was thought since the user's last question.
const qwen = ({ system_alone = '', thinks = false, ending = '' } = {}) => `${kChatMl}
{%- set seen = namespace(question=-1) -%}
{%- for message in messages if message.role == 'user' -%}{%- set seen.question = message.number -%}{%- endfor -%}
{%- set first = messages[0].content if messages[0].role == 'system' else '${system_alone}' -%}
{%- if tools -%}
  {%- set lines = namespace(all='') -%}
  {%- for tool in tools -%}{%- set lines.all = lines.all + '\\n' + (tool | tojson) -%}{%- endfor -%}
  {{- turn('system', (first + '\\n\\n' if first else '') + '${kAbove}' + lines.all + '\\n' + '${kBelow}') -}}
{%- elif first -%}
  {{- turn('system', first) -}}
{%- endif -%}
{%- for message in messages -%}
  {%- set next = messages[loop.index0 + 1] if not loop.last else none -%}
  {%- if message.role == 'user' or (message.role == 'system' and not loop.first) -%}
    {{- turn(message.role, message.content) -}}
  {%- elif message.role == 'assistant' -%}
    {%- set said = namespace(text=message.content or '') -%}
    {%- for call in message.tool_calls or [] -%}
      {%- if said.text -%}{%- set said.text = said.text + '\\n' -%}{%- endif -%}
      {%- set said.text = said.text + '<tool_call>\\n{"name": "' + call.function.name + '", "arguments": '
            + (call.function.arguments | tojson) + '}\\n</tool_call>' -%}
    {%- endfor -%}
    {%- if ${thinks} and message.number > seen.question and message.reasoning_content -%}
      {%- set said.text = '<think>\\n' + message.reasoning_content + '\\n</think>\\n\\n' + said.text -%}
    {%- endif -%}
    {{- turn('assistant', said.text) -}}
  {%- elif message.role == 'tool' -%}
    {%- if messages[loop.index0 - 1].role != 'tool' -%}<|im_start|>user{%- endif -%}
    {{- '\\n<tool_response>\\n' + message.content + '\\n</tool_response>' -}}
    {%- if not next or next.role != 'tool' -%}<|im_end|>{{ '\\n' }}{%- endif -%}
  {%- endif -%}
{%- endfor -%}
<|im_start|>assistant{{ '\\n' }}${ending}`;

const kNoThought = "{%- if enable_thinking is false -%}{{ '<think>\\n\\n</think>\\n\\n' }}{%- endif -%}";

// One turn after the other, each between what a role has before and behind it.
const turns = (before, behind, answer, text = 'message.content') => `
{%- for message in messages -%}
  {{- ${before} + ${text} + ${behind} -}}
{%- endfor -%}
{{- ${answer} -}}`;

const kHeader = "'<|start_header_id|>' + role + '<|end_header_id|>\\n\\n'";

const kTemplates = {
  chatml: { source: `${kChatMl}{%- for message in messages -%}{{ turn(message.role, message.content) }}{%- endfor -%}<|im_start|>assistant{{ '\\n' }}` },
  qwen2: { tools: true, source: qwen({ system_alone: 'You are Qwen, created by Alibaba Cloud. You are a helpful assistant.' }) },
  qwen3: { tools: true, thinks: true, source: qwen({ thinks: true, ending: kNoThought }) },
  qwen3_instruct: { tools: true, source: qwen() },
  qwen3_thinking: { tools: true, thinks: true, source: qwen({ thinks: true, ending: "{{ '<think>\\n' }}" }) },
  // What was thought is never written again, and behind results the answer begins without a mark. The published one
  // leaves the end of a single call out, which is a slip: two calls have it.
  deepseek_r1: {
    calls: true, own_off: true, source: `
{%- for message in messages if message.role == 'system' -%}{{ message.content }}{%- endfor -%}
{%- for message in messages -%}
  {%- set before = messages[loop.index0 - 1].role if not loop.first else '' -%}
  {%- set next = messages[loop.index0 + 1].role if not loop.last else '' -%}
  {%- if message.role == 'user' -%}<｜User｜>{{ message.content }}
  {%- elif message.role == 'assistant' -%}
    {%- if before != 'tool' -%}<｜Assistant｜>{%- endif -%}
    {{- message.content or '' -}}
    {%- for call in message.tool_calls or [] -%}
      {{- '<｜tool▁calls▁begin｜>' if loop.first else '\\n' -}}
      {{- '<｜tool▁call▁begin｜>function<｜tool▁sep｜>' + call.function.name + '\\n\`\`\`json\\n' + (call.function.arguments | tojson)
            + '\\n\`\`\`<｜tool▁call▁end｜>' -}}
      {%- if loop.last -%}<｜tool▁calls▁end｜>{%- endif -%}
    {%- endfor -%}<｜end▁of▁sentence｜>
  {%- elif message.role == 'tool' -%}
    {{- '\\n' if before == 'tool' else '<｜tool▁outputs▁begin｜>' -}}
    <｜tool▁output▁begin｜>{{ message.content }}<｜tool▁output▁end｜>
    {%- if next != 'tool' -%}<｜tool▁outputs▁end｜>{%- endif -%}
  {%- endif -%}
{%- endfor -%}
{%- if messages[-1].role != 'tool' -%}<｜Assistant｜>{{ '<think>\\n' }}{%- endif -%}` },
  // Without its two lines of dates, which would make every day's prompts new from their beginning, and so without the
  // system turn where nothing else is in it. A turn has at most one call, and nothing else then.
  llama3: {
    tools: true, one_call: true, source: `
{%- macro turn(role, text) -%}{{ ${kHeader} + text + '<|eot_id|>' }}{%- endmacro -%}
{%- set waiting = namespace(tools=tools) -%}
{%- set first = messages[0].content | trim if messages[0].role == 'system' else '' -%}
{%- if tools -%}{%- set first = 'Environment: ipython\\n\\n' + first -%}{%- endif -%}
{%- if first -%}{{ turn('system', first) }}{%- endif -%}
{%- for message in messages if message.number > 0 or message.role != 'system' -%}
  {%- if message.role == 'tool' -%}{{ turn('ipython', message.content | tojson) }}
  {%- elif message.tool_calls -%}
    {%- set call = message.tool_calls[0].function -%}
    {{- turn('assistant', '{"name": "' + call.name + '", "parameters": ' + (call.arguments | tojson) + '}') -}}
  {%- elif message.role == 'user' and waiting.tools -%}
    {%- set told = namespace(all='${kAbove}') -%}
    {%- for tool in waiting.tools -%}{%- set told.all = told.all + (tool | tojson(indent=4)) + '\\n\\n' -%}{%- endfor -%}
    {%- set waiting.tools = none -%}
    {{- turn('user', told.all + (message.content | trim)) -}}
  {%- else -%}{{ turn(message.role, message.content | trim) }}
  {%- endif -%}
{%- endfor -%}
{%- set role = 'assistant' -%}{{ ${kHeader} }}` },
  phi3: { source: turns("'<|' + message.role + '|>\\n'", "'<|end|>\\n'", "'<|assistant|>\\n'") },
  phi4_mini: {
    tools: true, source: `
{%- if tools and messages[0].role != 'system' -%}<|system|>{{ offer() }}<|end|>{%- endif -%}
{%- for message in messages -%}
  {{- '<|' + message.role + '|>' + (message.content or '') -}}
  {%- if tools and loop.first and message.role == 'system' -%}{{ offer() }}{%- endif -%}
  {%- for call in message.tool_calls or [] -%}
    {{- '<|tool_call|>[' if loop.first else ', ' -}}
    {{- '{"name": "' + call.function.name + '", "arguments": ' + (call.function.arguments | tojson) + '}' -}}
    {%- if loop.last -%}]<|/tool_call|>{%- endif -%}
  {%- endfor -%}<|end|>
{%- endfor -%}<|assistant|>` },
  // No role for system text: it goes before what the user says first.
  gemma: {
    source: `
{%- set waiting = namespace(text='') -%}
{%- for message in messages -%}
  {%- if message.role == 'system' -%}{%- set waiting.text = message.content + '\\n\\n' -%}
  {%- else -%}
    {{- '<start_of_turn>' + ('model' if message.role == 'assistant' else 'user') + '\\n' + waiting.text -}}
    {{- message.content | trim -}}<end_of_turn>{{ '\\n' }}
    {%- set waiting.text = '' -%}
  {%- endif -%}
{%- endfor -%}<start_of_turn>model{{ '\\n' }}` },
  internlm2: {
    tools: true, source: `${kChatMl}
{%- macro offered() -%}{{ turn('system name=<|plugin|>', '[' + lines() + ']') }}{%- endmacro -%}
{%- if tools and messages[0].role != 'system' -%}{{ offered() }}{%- endif -%}
{%- for message in messages -%}
  {%- set said = namespace(text=message.content or '') -%}
  {%- for call in message.tool_calls or [] -%}
    {%- set said.text = said.text + '<|action_start|><|plugin|>\\n{"name": "' + call.function.name + '", "parameters": '
          + (call.function.arguments | tojson) + '}<|action_end|>' -%}
  {%- endfor -%}
  {{- turn('environment name=<|plugin|>' if message.role == 'tool' else message.role, said.text) -}}
  {%- if tools and loop.first and message.role == 'system' -%}{{ offered() }}{%- endif -%}
{%- endfor -%}<|im_start|>assistant{{ '\\n' }}` },
  minicpm: { source: turns("{'user': '<用户>', 'assistant': '<AI>', 'system': ''}[message.role]", "''", "'<AI>'", '(message.content | trim)') },
  chatglm3: { source: turns("'<|' + message.role + '|>\\n '", "''", "'<|assistant|>'") },
  tinyllama: { source: turns("'<|' + message.role + '|>\\n'", "'</s>\\n'", "'<|assistant|>\\n'") },
};

// Phi's and InternLM's lists of functions alone.
const kLines = `
{%- macro lines() -%}{%- for tool in tools -%}{{ (tool.function | tojson) + (', ' if not loop.last else '') }}{%- endfor -%}{%- endmacro -%}
{%- macro offer() -%}<|tool|>[{{ lines() }}]<|/tool|>{%- endmacro -%}`;

const kTools = [
  { type: 'function', function: { name: Weather.name, description: Weather.description, parameters: Weather.schema } },
  { type: 'function', function: { name: 'now', description: 'Giờ hiện tại "ở đây".', parameters: { type: 'object', properties: {} } } },
];

const user = (content) => ({ role: 'user', content });
const system = (content) => ({ role: 'system', content });
const says = (content, more = {}) => ({ role: 'assistant', content, ...more });
const call = (id, name, args) => ({ id, type: 'function', function: { name, arguments: JSON.stringify(args) } });
const result = (id, content) => ({ role: 'tool', tool_call_id: id, content });

const kCalling = [user('Mưa ở Huế?'), says(null, { tool_calls: [call('a', Weather.name, { city: 'Huế' })] }), result('a', 'mưa')];

const kConversations = {
  'one question': { messages: [user('Xin chào')] },
  'system text and several turns': { messages: [system('Be brief.'), user('Hi'), says('Hello!'), user('Bye'), says('See you.'), user('One more')] },
  'space around what is said': { messages: [system('  Be brief. '), user(' Hi \n'), says('\nHello! '), user(' Bye')] },
  'thinking off': { thinks: true, off: true, messages: [system('Be brief.'), user('Hi')], chat_template_kwargs: { enable_thinking: false } },
  'thinking on': { thinks: true, messages: [user('Hi')], chat_template_kwargs: { enable_thinking: true } },
  'what was thought of earlier questions': { thinks: true, messages: [user('Hi'), says('Hello!', { reasoning_content: 'A greeting.' }), user('Bye')] },
  'tools': { tools: kTools, messages: [user('Hi')] },
  'tools and system text': { tools: kTools, messages: [system('Be brief.'), user('Hi'), says('Hello!'), user('Bye')] },
  'a call and its result': { calls: true, messages: kCalling },
  'a call, its result and the answer': { calls: true, messages: [system('Be brief.'), ...kCalling, says('It rains.'), user('Thanks')] },
  'several calls, and their results in a row': {
    calls: true, several: true, messages: [user('Q'), says(null, { tool_calls: [call('a', 'now', {}), call('b', Weather.name, { city: 'Huế', days: 2 })] }),
      result('a', '12:00'), result('b', 'mưa'), says('Done.'), user('So?')],
  },
  'space around a result': { calls: true, messages: [...kCalling.slice(0, 2), result('a', ' mưa\n')] },
  'text before a call': { calls: true, text: true, messages: [user('Q'), says('Let me see.', { tool_calls: [call('a', 'now', {})] }), result('a', '12:00')] },
  'thinking before a call': {
    calls: true, thinks: true, messages: [user('Q'), says(null, { reasoning_content: 'I must look.', tool_calls: [call('a', 'now', {})] }), result('a', '12:00')],
  },
};

let board;
let own; // a folder with one model, which has a name for each family
before(async () => {
  own = await mkdtemp(join(tmpdir(), 'rkllm-mcp-own-'));
  const path = join(own, 'any.rkllm');
  await writeFile(path, JSON.stringify({ rkllm_simulated_model: 1, name: 'SIMULATED any' }));
  const presets = Object.keys(kTemplates).map((family) => [family, { param: { model_path: path }, template: family }]);
  board = await Board.start({}, Object.fromEntries(presets));
});
after(async () => {
  await board.stop();
  await rm(own, { recursive: true });
});

async function prompt_of(family, request) {
  const response = await fetch(`${board.url}/apply-template`, {
    method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify({ model: family, ...request }),
  });
  const text = await response.text();
  assert.equal(response.status, 200, text);
  return JSON.parse(text).prompt;
}

// What engines of templates are given: arguments as objects.
function published(source, { messages, tools, chat_template_kwargs = {} }) {
  const read = messages.map((message, number) => ({
    ...message, number,
    ...(message.tool_calls && { tool_calls: message.tool_calls.map((each) => ({
      ...each, function: { ...each.function, arguments: JSON.parse(each.function.arguments) } })) }),
  }));
  return new Template(kLines + source).render({ messages: read, tools: tools ?? null, ...chat_template_kwargs });
}

// Whether the family's publisher says how such a conversation is written.
function is_published(template, conversation) {
  if (conversation.thinks && !template.thinks && conversation.calls) return false;
  if (conversation.off && template.own_off) return false;
  if (conversation.tools) return template.tools ?? false;
  if (!conversation.calls) return true;
  if (conversation.several && template.one_call) return false;
  if (conversation.text && (template.one_call || template.calls)) return false; // calls stand alone
  return (template.tools || template.calls) ?? false;
}

for (const [family, template] of Object.entries(kTemplates)) {
  describe(family, () => {
    for (const [name, { messages, tools, chat_template_kwargs, ...needs }] of Object.entries(kConversations)) {
      if (!is_published(template, { tools, ...needs })) continue;
      test(name, async () => {
        const request = { messages, tools, chat_template_kwargs };
        const ours = await prompt_of(family, request);
        const theirs = published(template.source, request);
        if (!theirs.includes(kAbove)) return assert.equal(ours, theirs);
        const [above, rest] = theirs.split(kAbove);
        const [between, below = ''] = rest.split(kBelow);
        assert.ok(ours.startsWith(above), ours);
        assert.ok(ours.includes(between), `${ours}\n--\n${between}`);
        if (rest.includes(kBelow)) assert.ok(ours.endsWith(below), ours);
        else assert.ok(ours.endsWith(between), ours);
      });
    }
  });
}
