// Vercel's AI SDK over two of its providers: @ai-sdk/openai-compatible and ai-sdk-ollama.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';

import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { embedMany, generateText, jsonSchema, Output, stepCountIs, streamText, tool } from 'ai';
import { createOllama } from 'ai-sdk-ollama';
import { z } from 'zod';

import { Board, kEndless, kModel, kSlowModel, saying, Weather, weather_story } from './support/board.mjs';

let board;
const providers = {};
before(async () => {
  board = await Board.start();
  const compatible = createOpenAICompatible({ name: 'board', baseURL: board.openai_url, includeUsage: true, supportsStructuredOutputs: true });
  providers['openai-compatible'] = { chat: compatible, embedding: (name) => compatible.embeddingModel(name) };
  const ollama = createOllama({ baseURL: board.url });
  providers.ollama = { chat: ollama, embedding: (name) => ollama.embedding(name) };
});
after(() => board.stop());

const tool_of = (weather) => ({ [Weather.name]: tool({ description: Weather.description, inputSchema: jsonSchema(Weather.schema),
  execute: (args) => weather.tell(args) }) });

for (const kind of ['openai-compatible', 'ollama']) {
  test(`${kind}: text, whole and in pieces, with its usage`, async () => {
    const model = providers[kind].chat(kModel);
    const whole = await generateText({ model, system: 'Be brief.', prompt: saying('<think>Hm.</think>\n\nHello.') });
    assert.equal(whole.text, 'Hello.');
    assert.ok(whole.usage.inputTokens > 0 && whole.usage.outputTokens > 0);
    const stream = streamText({ model, messages: [{ role: 'user', content: saying(`In pieces, ${kind}.`) }] });
    let text = '';
    for await (const delta of stream.textStream) text += delta;
    assert.equal(text, `In pieces, ${kind}.`);
    assert.ok((await stream.usage).outputTokens > 0);
  });

  test(`${kind}: tools are called and answered, whole and in pieces`, async () => {
    for (const make of [generateText, streamText]) {
      const weather = new Weather();
      const city = `Hue ${kind} ${make.name}`;
      const made = await make({ model: providers[kind].chat(kModel), tools: tool_of(weather), stopWhen: stepCountIs(5), prompt: weather_story(city) });
      assert.equal(await made.text, `It is sunny in ${city}.`);
      assert.deepEqual(weather.asked, [city]);
    }
  });

  test(`${kind}: an object in a schema`, async () => {
    const output = Output.object({ schema: z.object({ city: z.string() }) });
    const made = await generateText({ model: providers[kind].chat(kModel), output, prompt: saying('{"city":"Vinh"}') });
    assert.deepEqual(made.output, { city: 'Vinh' });
  });

  test(`${kind}: texts become vectors`, async () => {
    const { embeddings } = await embedMany({ model: providers[kind].embedding(kModel), values: ['a cat', 'the law'] });
    assert.deepEqual(embeddings.map((vector) => vector.length), [8, 8]);
  });

  // With ai-sdk-ollama it goes on to its end: it leaves the iterator of ollama-js, which keeps the connection then.
  if (kind !== 'ollama') test(`${kind}: an aborted stream stops its run`, async () => {
    const controller = new AbortController();
    const stream = streamText({ model: providers[kind].chat(kSlowModel), prompt: kEndless, abortSignal: controller.signal, onError() {} });
    for await (const _ of stream.textStream) controller.abort();
    await board.until_busy(kSlowModel, false);
  });

  test(`${kind}: an unknown model is an error`, async () => {
    await assert.rejects(generateText({ model: providers[kind].chat('nobody'), prompt: 'x', maxRetries: 0 }), /nobody/);
  });
}
