// @openai/agents over chat completions and over responses: runs, streams, tools, output in a schema.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';

import { Agent, OpenAIProvider, Runner, setTracingDisabled, tool } from '@openai/agents';
import { z } from 'zod';

import { Board, kModel, saying, Weather, weather_story } from './support/board.mjs';

setTracingDisabled(true);
let board;
before(async () => { board = await Board.start(); });
after(() => board.stop());

for (const useResponses of [false, true]) {
  const kind = useResponses ? 'responses' : 'chat';
  const runner = () => new Runner({ modelProvider: new OpenAIProvider({ baseURL: board.openai_url, apiKey: 'none', useResponses }) });

  test(`agents over ${kind}: an answer, whole and in pieces`, async () => {
    const agent = new Agent({ name: 'board', instructions: 'Be brief.', model: kModel });
    assert.equal((await runner().run(agent, saying('<think>Hm.</think>\n\nHello.'))).finalOutput, 'Hello.');
    const stream = await runner().run(agent, saying(`In pieces, ${kind}.`), { stream: true });
    let text = '';
    for await (const delta of stream.toTextStream()) text += delta;
    await stream.completed;
    assert.equal(text, `In pieces, ${kind}.`);
  });

  test(`agents over ${kind}: a tool is called and answered, whole and in pieces`, async () => {
    for (const stream of [false, true]) {
      const weather = new Weather();
      const tools = [tool({ name: Weather.name, description: Weather.description, parameters: z.object({ city: z.string() }),
        execute: (args) => weather.tell(args) })];
      const city = `Hue ${kind} ${stream}`;
      const result = await runner().run(new Agent({ name: 'board', model: kModel, tools }), weather_story(city), { stream });
      await result.completed;
      assert.equal(result.finalOutput, `It is sunny in ${city}.`);
      assert.deepEqual(weather.asked, [city]);
    }
  });

  test(`agents over ${kind}: output in a schema`, async () => {
    const agent = new Agent({ name: 'board', model: kModel, outputType: z.object({ city: z.string() }) });
    assert.deepEqual((await runner().run(agent, saying(`{"city":"Vinh ${kind}"}`))).finalOutput, { city: `Vinh ${kind}` });
  });

  test(`agents over ${kind}: a second turn has the first`, async () => {
    const agent = new Agent({ name: 'board', model: kModel });
    const first = await runner().run(agent, saying(`One, ${kind}.`));
    const second = await runner().run(agent, [...first.history, { role: 'user', content: saying(`Two, ${kind}.`) }]);
    assert.equal(second.finalOutput, `Two, ${kind}.`);
  });
}
