// ollama-js: chat, generate, list, show, ps, embed, abort, loading and unloading, errors.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';

import { Ollama } from 'ollama';

import { eventually } from '../clients/support/eventually.mjs';
import { Board, kContext, kEndless, kModel, kModels, kPicture, kSlowModel, saying, Weather, weather_story } from './support/board.mjs';

let board;
let client;
before(async () => {
  board = await Board.start();
  client = new Ollama({ host: board.url });
});
after(() => board.stop());

const user = (content) => ({ role: 'user', content });
const asking = (content, more) => ({ model: kModel, messages: [user(content)], ...more });
const tool = { type: 'function', function: { name: Weather.name, description: Weather.description, parameters: Weather.schema } };

async function joined(stream, piece_of) {
  let text = '';
  let last;
  for await (const part of stream) {
    text += piece_of(part) ?? '';
    last = part;
  }
  return { text, last };
}

test('ollama: a chat, whole and in pieces', async () => {
  const whole = await client.chat(asking(saying('<think>Hm.</think>\n\nHello.'), { think: true, options: { num_ctx: 8192, seed: 1 } }));
  assert.equal(whole.message.content, 'Hello.');
  assert.equal(whole.message.thinking.trim(), 'Hm.');
  assert.equal(whole.done_reason, 'stop');
  for (const name of ['total_duration', 'prompt_eval_count', 'eval_count', 'eval_duration']) assert.ok(whole[name] > 0, name);
  const { text, last } = await joined(await client.chat(asking(saying('In pieces.'), { stream: true, think: false })), ({ message }) => message.content);
  assert.equal(text, 'In pieces.');
  assert.equal(last.done, true);
  assert.ok(last.eval_count > 0);
});

test('ollama: a prompt is answered, with a system text, raw, and in a schema', async () => {
  const ask = (prompt, more) => client.generate({ model: kModel, prompt, think: false, ...more });
  assert.equal((await ask(saying('Hello.'), { system: 'Be brief.' })).response, 'Hello.');
  assert.equal((await ask(saying('As it is.'), { raw: true })).response, 'As it is.');
  const { text } = await joined(await ask(saying('Piece by piece.'), { stream: true }), ({ response }) => response);
  assert.equal(text, 'Piece by piece.');
  const schema = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] };
  assert.deepEqual(JSON.parse((await ask(saying('[1]', '{"city":"Hue"}'), { format: schema })).response), { city: 'Hue' });
  assert.deepEqual(JSON.parse((await ask(saying('{"a":1}'), { format: 'json' })).response), { a: 1 });
  assert.equal((await ask(saying('one two three four five six'), { options: { num_predict: 2 } })).done_reason, 'length');
});

test('ollama: a tool is called and its result answered, whole and in pieces', async () => {
  for (const stream of [false, true]) {
    const weather = new Weather();
    const asked = asking(weather_story(`Hue ${stream}`), { tools: [tool], think: false, stream });
    const answer = await client.chat(asked);
    const parts = stream ? await Array.fromAsync(answer) : [answer];
    const calls = parts.flatMap(({ message }) => message.tool_calls ?? []);
    assert.deepEqual(calls.map((call) => call.function), [{ name: Weather.name, arguments: { city: `Hue ${stream}` } }]);
    const messages = [...asked.messages, { role: 'assistant', content: '', tool_calls: calls },
      { role: 'tool', tool_name: Weather.name, content: weather.tell(calls[0].function.arguments) }];
    const last = await client.chat({ ...asked, stream: false, messages });
    assert.equal(last.message.content, `It is sunny in Hue ${stream}.`);
  }
});

test('ollama: an aborted chat stops its run', async () => {
  const stream = await client.chat({ ...asking(kEndless), model: kSlowModel, stream: true });
  await assert.rejects(async () => {
    for await (const _ of stream) stream.abort();
  }, { name: 'AbortError' });
  await board.until_busy(kSlowModel, false);
});

test('ollama: models are listed, shown, loaded, seen and unloaded', async () => {
  const { models } = await client.list();
  assert.deepEqual(models.map(({ name }) => name).sort(), kModels);
  for (const key of ['modified_at', 'size', 'digest', 'details']) assert.ok(key in models[0], key);
  // The digest is computed in the background.
  await eventually(async () => (await client.list()).models.every(({ digest }) => /^[0-9a-f]{64}$/.test(digest)));
  const shown = await client.show({ model: kModel });
  assert.equal(shown.details.family, 'qwen3');
  assert.deepEqual(shown.capabilities, ['completion', 'tools', 'thinking']);
  assert.equal((await client.generate({ model: kModel, prompt: '', keep_alive: '5m' })).done_reason, 'load');
  const { models: running } = await client.ps();
  const row = running.find(({ name }) => name === kModel);
  assert.equal(row.context_length, kContext);
  assert.ok(new Date(row.expires_at) > new Date());
  assert.equal((await client.chat({ model: kModel, messages: [], keep_alive: 0 })).done_reason, 'unload');
  assert.ok(!(await client.ps()).models.some(({ name }) => name === kModel));
  assert.match((await client.version()).version, /^\d+\.\d+\.\d+$/);
});

test('ollama: texts become vectors, one and several', async () => {
  const { embeddings } = await client.embed({ model: kModel, input: ['a cat', 'the law'] });
  assert.deepEqual(embeddings.map((vector) => vector.length), [8, 8]);
  assert.equal((await client.embed({ model: kModel, input: 'a cat', dimensions: 4 })).embeddings[0].length, 4);
  assert.equal((await client.embeddings({ model: kModel, prompt: 'a cat' })).embedding.length, 8);
});

test('ollama: what is wrong is an error with its status', async () => {
  await assert.rejects(client.chat(asking('x', { model: 'llama9' })), { status_code: 404 });
  await assert.rejects(client.chat(asking('x', { options: { temperature: -1 } })), { status_code: 400 });
  await assert.rejects(client.chat(asking('word '.repeat(5 * kContext))), { status_code: 400 });
  await assert.rejects(client.chat({ model: kModel, messages: [{ ...user('x'), images: [kPicture.split(',')[1]] }] }), { status_code: 400 });
  await assert.rejects(client.show({ model: 'llama9' }), { status_code: 404 });
  await assert.rejects(client.create({ model: 'other', from: kModel }), { status_code: 400 });
  await assert.rejects(client.pull({ model: 'llama3.2' }), { status_code: 400 });
});
