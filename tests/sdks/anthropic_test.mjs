// @anthropic-ai/sdk: messages with their stream helper, tools with their runner, thinking, count_tokens, models, errors.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';

import Anthropic from '@anthropic-ai/sdk';
import { betaTool } from '@anthropic-ai/sdk/helpers/beta/json-schema';
import { zodOutputFormat } from '@anthropic-ai/sdk/helpers/zod';
import { z } from 'zod';

import { Board, kContext, kEndless, kModel, kModels, kPicture, kSlowModel, saying, Weather, weather_story } from './support/board.mjs';

let board;
let client;
before(async () => {
  board = await Board.start();
  client = new Anthropic({ baseURL: board.url, apiKey: 'none', maxRetries: 0 });
});
after(() => board.stop());

const asking = (content, more) => ({ model: kModel, max_tokens: 200, messages: [{ role: 'user', content }], ...more });
const text_of = ({ content }) => content.filter(({ type }) => type === 'text').map(({ text }) => text).join('');

test('anthropic: a message, with thinking, usage and headers', async () => {
  const { data, response } = await client.messages.create(asking(saying('<think>Hm.</think>\n\nHello.'),
    { system: [{ type: 'text', text: 'Be brief.', cache_control: { type: 'ephemeral' } }], metadata: { user_id: 'u' } })).withResponse();
  assert.equal(text_of(data), 'Hello.');
  assert.equal(data.content[0].thinking.trim(), 'Hm.');
  assert.equal(data.stop_reason, 'end_turn');
  assert.ok(data.usage.input_tokens > 0 && data.usage.output_tokens > 0);
  assert.equal(response.headers.get('x-rkllm-ignored'), 'system[].cache_control, metadata');
  assert.equal(data._request_id, response.headers.get('request-id'));
});

test('anthropic: what was thought and said can be sent back', async () => {
  const asked = asking(saying('<think>Well.</think>\n\nYes.'));
  const first = await client.messages.create(asked);
  const messages = [...asked.messages, { role: 'assistant', content: first.content }, { role: 'user', content: saying('And no.') }];
  assert.equal(text_of(await client.messages.create({ ...asked, messages })), 'And no.');
});

test('anthropic: a stream and its helper', async () => {
  const stream = client.messages.stream(asking(saying('<think>Hm.</think>\n\nOne two three!! Four.'), { stop_sequences: ['!!'] }));
  let text = '';
  stream.on('text', (delta) => { text += delta; });
  const whole = await stream.finalMessage();
  assert.equal(text, 'One two three');
  assert.equal(text_of(whole), text);
  assert.equal(whole.stop_reason, 'stop_sequence');
  assert.equal(whole.stop_sequence, '!!');
  assert.ok(whole.usage.output_tokens > 0);
  assert.ok(whole.usage.input_tokens > 0);
});

test('anthropic: a stream that is aborted stops its run', async () => {
  const stream = client.messages.stream({ ...asking(kEndless), model: kSlowModel, max_tokens: 3000 });
  for await (const event of stream) {
    if (event.type === 'content_block_delta') break;
  }
  stream.abort();
  await board.until_busy(kSlowModel, false);
});

for (const stream of [false, true]) {
  test(`anthropic: the tool runner calls and comes back, stream: ${stream}`, async () => {
    const weather = new Weather();
    const tool = betaTool({ name: Weather.name, description: Weather.description, inputSchema: Weather.schema, run: (input) => weather.tell(input) });
    const runner = client.beta.messages.toolRunner({ ...asking(weather_story(`Hoi An ${stream}`)), stream, tools: [tool] });
    assert.equal(text_of(await runner), `It is sunny in Hoi An ${stream}.`);
    assert.deepEqual(weather.asked, [`Hoi An ${stream}`]);
  });
}

test('anthropic: an answer in a schema', async () => {
  const format = zodOutputFormat(z.object({ city: z.string() }));
  const answer = await client.messages.parse(asking(saying('{"city": 1}', '{"city":"Hue"}'), { output_config: { format } }));
  assert.deepEqual(answer.parsed_output, { city: 'Hue' });
});

test('anthropic: tokens are counted before, models are listed', async () => {
  const counted = await client.messages.countTokens({ model: kModel, system: 'Be brief.', messages: [{ role: 'user', content: 'Hello' }],
    tools: [{ name: Weather.name, input_schema: Weather.schema }] });
  assert.ok(counted.input_tokens > 20);
  const names = [];
  for await (const { id } of client.models.list()) names.push(id);
  assert.deepEqual(names.sort(), kModels);
  assert.equal((await client.models.retrieve(kModel)).id, kModel);
});

test('anthropic: what is wrong is an error of its kind', async () => {
  const ask = (content, more) => client.messages.create(asking(content, more));
  await assert.rejects(ask('x', { model: 'claude-9' }), (error) => error instanceof Anthropic.NotFoundError && error.error.error.type === 'not_found_error');
  await assert.rejects(ask('x', { top_p: 7, stream: true }), (error) => error instanceof Anthropic.BadRequestError && /top_p/.test(error.message));
  await assert.rejects(ask('word '.repeat(5 * kContext)), /prompt is too long/);
  const source = { type: 'base64', media_type: 'image/png', data: kPicture.split(',')[1] };
  await assert.rejects(ask([{ type: 'image', source }]), { status: 400 });
  await assert.rejects(ask('x', { tools: [{ type: 'bash_20250124', name: 'bash' }] }), { status: 400 });
});
