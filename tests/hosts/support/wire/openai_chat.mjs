// OpenAI's chat completions: LangChain, AI SDK, Mastra.
import { send_events, send_json, text_of } from './events.mjs';

function read({ tools = [], messages }) {
  return {
    tools: new Map(tools.map((tool) => [tool.function.name,
      { description: tool.function.description, schema: tool.function.parameters }])),
    results: messages.filter(({ role }) => role === 'tool')
      .map(({ tool_call_id, content }) => ({ id: tool_call_id, text: text_of(content) })),
  };
}

let answers = 0;

function write({ text, calls }, { model, stream }, response) {
  const message = { role: 'assistant', content: text ?? null };
  if (calls) {
    message.tool_calls = calls.map(({ id, name, args }, index) => ({
      index, id, type: 'function', function: { name, arguments: JSON.stringify(args) },
    }));
  }
  const finish_reason = calls ? 'tool_calls' : 'stop';
  const usage = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 };
  const head = { id: `chatcmpl-${++answers}`, created: 1, model };
  if (!stream) {
    const choices = [{ index: 0, message, finish_reason }];
    return send_json(response, { ...head, object: 'chat.completion', choices, usage });
  }
  const chunk = (more) => ({ data: { ...head, object: 'chat.completion.chunk', ...more } });
  send_events(response, [
    chunk({ choices: [{ index: 0, delta: message, finish_reason: null }] }),
    chunk({ choices: [{ index: 0, delta: {}, finish_reason }] }),
    chunk({ choices: [], usage }),
    { data: '[DONE]' },
  ]);
}

export const openai_chat = { path: /\/chat\/completions$/, read, write };
