// Continue's adapters, by which its editor plugins ask models: chat, streams, tools, lists of models, embeddings.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';

import { constructLlmApi } from '@continuedev/openai-adapters';

import { Board, kEndless, kModel, kModels, kSlowModel, saying, Weather, weather_story } from './support/board.mjs';

let board;
before(async () => { board = await Board.start(); });
after(() => board.stop());

const never = () => new AbortController().signal;
const asking = (content, more) => ({ model: kModel, messages: [{ role: 'user', content }], ...more });
const tools = [{ type: 'function', function: { name: Weather.name, description: Weather.description, parameters: Weather.schema } }];

// Its provider "ollama" asks over Ollama's OpenAI endpoints; "anthropic" over the AI SDK or by itself.
const kinds = {
  openai: () => ({ provider: 'openai', apiKey: 'none', apiBase: `${board.openai_url}/` }),
  ollama: () => ({ provider: 'ollama', apiKey: 'none', apiBase: `${board.openai_url}/` }),
  'llama.cpp': () => ({ provider: 'llama.cpp', apiKey: 'none', apiBase: `${board.openai_url}/` }),
  anthropic: () => ({ provider: 'anthropic', apiKey: 'none', apiBase: `${board.openai_url}/` }),
};

async function streamed(api, body, signal = never()) {
  let text = '';
  const calls = [];
  for await (const { choices: [choice] } of api.chatCompletionStream({ ...body, stream: true }, signal)) {
    text += choice?.delta.content ?? '';
    for (const { index = 0, function: { name, arguments: piece } } of choice?.delta.tool_calls ?? []) {
      calls[index] ??= { name, arguments: '' };
      calls[index].arguments += piece ?? '';
    }
  }
  return { text, calls };
}

for (const [kind, config] of Object.entries(kinds)) {
  test(`continue, ${kind}: an answer, whole and in pieces`, async () => {
    const api = constructLlmApi(config());
    const whole = await api.chatCompletionNonStream(asking(saying('Hello.'), { stream: false, max_tokens: 50 }), never());
    assert.equal(whole.choices[0].message.content, 'Hello.');
    assert.equal((await streamed(api, asking(saying(`In pieces, ${kind}.`), { max_tokens: 50 }))).text, `In pieces, ${kind}.`);
  });

  test(`continue, ${kind}: a tool is called in a stream, and its result answered`, async () => {
    const api = constructLlmApi(config());
    const asked = asking(weather_story(`Hue ${kind}`), { tools, max_tokens: 100 });
    const { calls: [call] } = await streamed(api, asked);
    assert.deepEqual({ ...call, arguments: JSON.parse(call.arguments) }, { name: Weather.name, arguments: { city: `Hue ${kind}` } });
    const messages = [...asked.messages, { role: 'assistant', content: '', tool_calls: [{ id: 'call_1', type: 'function', function: call }] },
      { role: 'tool', tool_call_id: 'call_1', content: Weather.result }];
    assert.equal((await streamed(api, { ...asked, messages })).text, `It is sunny in Hue ${kind}.`);
  });

  test(`continue, ${kind}: a stream that is aborted stops its run`, async () => {
    const controller = new AbortController();
    const stream = constructLlmApi(config()).chatCompletionStream({ ...asking(kEndless), model: kSlowModel, max_tokens: 3000, stream: true }, controller.signal);
    await assert.rejects(async () => {
      for await (const { choices } of stream) if (choices[0]?.delta.content) controller.abort();
      throw new Error('it has ended'); // some end the stream without an error
    });
    await board.until_busy(kSlowModel, false);
  });
}

test('continue: models and embeddings', async () => {
  const api = constructLlmApi(kinds.openai());
  assert.deepEqual((await api.list()).map(({ id }) => id).sort(), kModels);
  const { data } = await api.embed({ model: kModel, input: ['a cat', 'the law'] });
  assert.equal(data.length, 2);
});
