// LangChain.js with @langchain/openai (chat completions and responses) and @langchain/ollama.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';

import { HumanMessage, SystemMessage, ToolMessage } from '@langchain/core/messages';
import { tool } from '@langchain/core/tools';
import { ChatOllama, OllamaEmbeddings } from '@langchain/ollama';
import { ChatOpenAI, OpenAIEmbeddings } from '@langchain/openai';
import { z } from 'zod';

import { Board, kEndless, kModel, kSlowModel, saying, Weather, weather_story } from './support/board.mjs';

let board;
before(async () => { board = await Board.start(); });
after(() => board.stop());

const openai = (more) => ({ apiKey: 'none', maxRetries: 0, configuration: { baseURL: board.openai_url }, ...more });
const chats = {
  'openai chat': (model = kModel) => new ChatOpenAI(openai({ model })),
  'openai responses': (model = kModel) => new ChatOpenAI(openai({ model, useResponsesApi: true })),
  ollama: (model = kModel) => new ChatOllama({ baseUrl: board.url, model, maxRetries: 0 }),
};

for (const [kind, chat] of Object.entries(chats)) {
  test(`${kind}: text, whole and in pieces, with its usage`, async () => {
    const whole = await chat().invoke([new SystemMessage('Be brief.'), new HumanMessage(saying('<think>Hm.</think>\n\nHello.'))]);
    assert.equal(whole.text, 'Hello.');
    assert.ok(whole.usage_metadata.input_tokens > 0 && whole.usage_metadata.output_tokens > 0);
    let text = '';
    for await (const chunk of await chat().stream(saying(`In pieces, ${kind}.`))) text += chunk.text;
    assert.equal(text, `In pieces, ${kind}.`);
  });

  test(`${kind}: tools are called and answered`, async () => {
    const weather = new Weather();
    const schema = z.object({ city: z.string() });
    const made = tool((args) => weather.tell(args), { name: Weather.name, description: Weather.description, schema });
    const model = chat().bindTools([made]);
    const messages = [new HumanMessage(weather_story(`Hue ${kind}`))];
    const first = await model.invoke(messages);
    messages.push(first);
    for (const call of first.tool_calls) {
      const result = await made.invoke(call);
      assert.ok(result instanceof ToolMessage);
      messages.push(result);
    }
    assert.equal((await model.invoke(messages)).text, `It is sunny in Hue ${kind}.`);
    assert.deepEqual(weather.asked, [`Hue ${kind}`]);
  });

  test(`${kind}: an object in a schema`, async () => {
    const city = z.object({ city: z.string() });
    const model = chat().withStructuredOutput(city, { name: 'city', method: 'jsonSchema' });
    assert.deepEqual(await model.invoke(saying(`{"city":"Vinh ${kind}"}`)), { city: `Vinh ${kind}` });
  });

  // With @langchain/ollama it goes on to its end: it leaves the iterator of ollama-js, which keeps the connection then.
  if (kind !== 'ollama') test(`${kind}: a stream that is aborted stops its run`, async () => {
    const controller = new AbortController();
    await assert.rejects(async () => {
      for await (const _ of await chat(kSlowModel).stream(kEndless, { signal: controller.signal })) controller.abort();
    });
    await board.until_busy(kSlowModel, false);
  });
}

test('langchain: texts become vectors, over both', async () => {
  const makers = [new OpenAIEmbeddings(openai({ model: kModel })), new OllamaEmbeddings({ baseUrl: board.url, model: kModel })];
  for (const maker of makers) {
    const vectors = await maker.embedDocuments(['a cat', 'the law']);
    assert.deepEqual(vectors.map((vector) => vector.length), [8, 8]);
    assert.equal((await maker.embedQuery('a cat')).length, 8);
  }
});
