// What Zed, Home Assistant, VS Code and Open WebUI send, and what they need of the answers, after their published sources:
// zed crates/ollama, home-assistant/core components/ollama, vscode-copilot-chat byok/ollamaProvider, open-webui routers.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';

import { Board, kContext, kModel, kModels, saying, Weather, weather_story } from './support/board.mjs';

let board;
before(async () => {
  board = await Board.start();
});
after(() => board.stop());

async function ask(path, body) {
  const response = await fetch(board.url + path, body && { method: 'POST', body: JSON.stringify(body) });
  const text = await response.text();
  assert.equal(response.status, 200, text);
  return text;
}
const json = async (path, body) => JSON.parse(await ask(path, body));
const lines = async (path, body) => (await ask(path, body)).trim().split('\n').map((line) => JSON.parse(line));
const said = (parts) => parts.map(({ message }) => message.content).join('');

// Zed reads rows and details into structures whose members are strings: where one is null, no model is listed at all.
function assert_strings(object, ...names) {
  for (const name of names) assert.equal(typeof object[name], 'string', `${name} is ${object[name]}`);
}

test('Zed lists the models, at once', async () => {
  const { models } = await json('/api/tags');
  assert.equal(models.length, kModels.length);
  for (const model of models) {
    assert_strings(model, 'name', 'modified_at', 'digest');
    assert.ok(Number.isInteger(model.size) && model.size >= 0);
    assert_strings(model.details, 'format', 'family', 'parameter_size', 'quantization_level');
  }
});

test('Zed asks what a model can do, and chats with absent members as null', async () => {
  assert.ok((await json('/api/show', { model: kModel })).capabilities.includes('tools'));
  const options = { num_ctx: kContext, num_predict: -1, stop: [], temperature: 1.0, top_p: null };
  const tools = [{ type: 'function', function: { name: Weather.name, description: null, parameters: Weather.schema } }];
  const body = { model: kModel, stream: true, keep_alive: -1, options, tools, think: null, messages: [
    { role: 'system', content: '' }, { role: 'user', content: weather_story('Pleiku') }] };
  const first = await lines('/api/chat', body);
  for (const part of first) {
    assert_strings(part, 'model', 'created_at');
    assert_strings(part.message, 'role', 'content');
  }
  const calls = first.flatMap(({ message }) => message.tool_calls ?? []);
  assert.deepEqual(calls, [{ function: { name: Weather.name, arguments: { city: 'Pleiku' } } }]);
  body.messages.push({ role: 'assistant', content: '', tool_calls: calls, thinking: null }, { role: 'tool', tool_name: Weather.name, content: Weather.result });
  assert.equal(said(await lines('/api/chat', body)), 'It is sunny in Pleiku.');
  body.messages.push({ role: 'assistant', content: 'It is sunny in Pleiku.', tool_calls: null, thinking: null }, { role: 'user', content: saying('Goodbye.') });
  assert.equal(said(await lines('/api/chat', body)), 'Goodbye.');
});

test('Home Assistant: its large context is named, a result of a tool has no name, and nothing else is missing', async () => {
  assert.ok((await json('/api/tags')).models.some(({ model }) => model === kModel));
  const tools = [{ type: 'function', function: { name: Weather.name, parameters: Weather.schema } }];
  const body = { model: `${kModel}:latest`, stream: true, keep_alive: -1, options: { num_ctx: 8192 }, think: false, tools, messages: [
    { role: 'system', content: 'You are a voice assistant.' }, { role: 'user', content: weather_story('Kon Tum') }] };
  const calls = (await lines('/api/chat', body)).flatMap(({ message }) => message.tool_calls ?? []);
  assert.equal(calls[0].function.arguments.city, 'Kon Tum');
  body.messages.push({ role: 'assistant', tool_calls: calls }, { role: 'tool', content: JSON.stringify({ data: Weather.result, error: null }) });
  const parts = await lines('/api/chat', { ...body, keep_alive: '300s' });
  assert.equal(said(parts), 'It is sunny in Kon Tum.');
  assert.equal(parts.at(-1).done, true);
});

test('VS Code takes the version, knows the context when the model is loaded, and chats as OpenAI does', async () => {
  const [major, minor, patch] = (await json('/api/version')).version.split('.').map(Number);
  assert.ok(major * 1e6 + minor * 1e3 + patch >= 6004);
  const messages = [{ role: 'system', content: 'You are an assistant.' }, { role: 'user', content: [{ type: 'text', text: saying('Done.') }] }];
  const answer = await ask('/v1/chat/completions', { model: kModel, messages, stream: true, stream_options: { include_usage: true }, temperature: 0.1,
    top_p: 1, n: 1, max_tokens: 500, intent: false, snippy: { enabled: false } });
  assert.match(answer, /data: \[DONE\]\n\n$/);
  const { models } = await json('/api/tags');
  for (const { model } of models) {
    const { model_info: info, capabilities } = await json('/api/show', { model });
    assert_strings(info, 'general.basename', 'general.architecture');
    assert.ok(capabilities.includes('tools'));
    if (model === kModel) assert.equal(info[`${info['general.architecture']}.context_length`], kContext);
  }
});

test('Open WebUI: both of its connections list, chat, and make titles', async () => {
  assert.equal((await json('/v1/models')).data.length, kModels.length);
  await json('/api/ps');
  const messages = [{ role: 'user', content: saying('Hello from the page.') }];
  assert.equal(said(await lines('/api/chat', { model: kModel, messages, options: {}, stream: true })), 'Hello from the page.');
  const title = { model: kModel, stream: false, max_completion_tokens: 1000, messages: [{ role: 'user', content: `### Task:\n${saying('{"title":"Hi"}')}` }] };
  assert.equal((await json('/v1/chat/completions', title)).choices[0].message.content, '{"title":"Hi"}');
  const made = await json('/api/embed', { model: kModel, input: ['a page', 'another'], truncate: true });
  assert.equal(made.embeddings.length, 2);
});
