// OpenAI's responses: OpenAI Agents, Codex.
import { send_events, send_json, text_of } from './events.mjs';

// Codex gives the tools of one server as one namespace: here namespace and name are one name, with a dot between.
function read({ tools = [], input }) {
  const functions = tools.flatMap(({ type, name, tools: inner }) =>
    (type === 'namespace' ? inner.map((tool) => ({ ...tool, name: `${name}.${tool.name}` })) : []))
    .concat(tools.filter(({ type }) => type === 'function'));
  const items = Array.isArray(input) ? input : [];
  return {
    tools: new Map(functions.map(({ name, description, parameters }) => [name, { description, schema: parameters }])),
    results: items.filter(({ type }) => type === 'function_call_output')
      .map(({ call_id, output }) => ({ id: call_id, text: text_of(output) })),
  };
}

function item_of({ id, name, args }) {
  const [inner, namespace] = name.split('.').reverse();
  return {
    type: 'function_call', id: `fc_${id}`, call_id: id, name: inner, ...(namespace && { namespace }),
    arguments: JSON.stringify(args), status: 'completed',
  };
}

let answers = 0;

function write({ text, calls }, { model, stream }, response) {
  const output = calls?.map(item_of) ??
    [{ type: 'message', id: 'msg_1', role: 'assistant', status: 'completed',
      content: [{ type: 'output_text', text, annotations: [] }] }];
  const whole = {
    id: `resp_${++answers}`, object: 'response', created_at: 1, model, status: 'completed', error: null,
    incomplete_details: null, instructions: null, metadata: {}, parallel_tool_calls: true, temperature: 1,
    tool_choice: 'auto', tools: [], top_p: 1, output,
    usage: { input_tokens: 1, input_tokens_details: { cached_tokens: 0 }, output_tokens: 1,
      output_tokens_details: { reasoning_tokens: 0 }, total_tokens: 2 },
  };
  if (!stream) return send_json(response, whole);
  const events = [{ type: 'response.created', response: { ...whole, status: 'in_progress', output: [] } }];
  output.forEach((item, output_index) => {
    events.push({ type: 'response.output_item.added', output_index, item });
    events.push({ type: 'response.output_item.done', output_index, item });
  });
  events.push({ type: 'response.completed', response: whole });
  send_events(response, events.map((data, sequence_number) => ({ event: data.type, data: { ...data, sequence_number } })));
}

export const openai_responses = { path: /\/responses$/, read, write };
