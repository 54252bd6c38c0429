// Anthropic's messages: Claude Code.
import { send_events, send_json, text_of } from './events.mjs';

function read({ tools = [], messages }) {
  const blocks = messages.flatMap(({ content }) => (Array.isArray(content) ? content : []));
  return {
    tools: new Map(tools.map(({ name, description, input_schema }) => [name, { description, schema: input_schema }])),
    results: blocks.filter(({ type }) => type === 'tool_result')
      .map(({ tool_use_id, content }) => ({ id: tool_use_id, text: text_of(content) })),
  };
}

let answers = 0;

function write({ text, calls }, { model, stream }, response) {
  const content = calls?.map(({ id, name, args }) => ({ type: 'tool_use', id, name, input: args })) ??
    [{ type: 'text', text }];
  const stop_reason = calls ? 'tool_use' : 'end_turn';
  const usage = { input_tokens: 1, output_tokens: 1, cache_creation_input_tokens: 0, cache_read_input_tokens: 0 };
  const head = { id: `msg_${++answers}`, type: 'message', role: 'assistant', model, stop_sequence: null, usage };
  if (!stream) return send_json(response, { ...head, content, stop_reason });
  const events = [{ type: 'message_start', message: { ...head, content: [], stop_reason: null } }];
  content.forEach((block, index) => {
    const begun = block.type === 'text' ? { ...block, text: '' } : { ...block, input: {} };
    const delta = block.type === 'text' ? { type: 'text_delta', text } :
      { type: 'input_json_delta', partial_json: JSON.stringify(block.input) };
    events.push({ type: 'content_block_start', index, content_block: begun });
    events.push({ type: 'content_block_delta', index, delta });
    events.push({ type: 'content_block_stop', index });
  });
  events.push({ type: 'message_delta', delta: { stop_reason, stop_sequence: null }, usage: { output_tokens: 1 } });
  events.push({ type: 'message_stop' });
  send_events(response, events.map((data) => ({ event: data.type, data })));
}

const answer_beside = (path) => (path.endsWith('/count_tokens') ? { input_tokens: 1 } : undefined);

export const anthropic = { path: /\/v1\/messages(\/count_tokens)?$/, read, write, answer_beside };
