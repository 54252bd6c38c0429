// openai-node: chat with its helpers, completions, embeddings, responses, models, errors.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';

import OpenAI from 'openai';
import { zodResponseFormat, zodTextFormat } from 'openai/helpers/zod';
import { z } from 'zod';

import { Board, calling, kContext, kEndless, kModel, kModels, kPicture, kSlowModel, saying, Weather, weather_story } from './support/board.mjs';

let board;
let client;
before(async () => {
  board = await Board.start();
  client = new OpenAI({ baseURL: board.openai_url, apiKey: 'none', maxRetries: 0 });
});
after(() => board.stop());

const user = (content) => ({ role: 'user', content });
const asking = (content, more) => ({ model: kModel, messages: [user(content)], ...more });
const City = z.object({ city: z.string(), people: z.number().int() });

const function_tool = (weather) => ({ type: 'function', function: { name: Weather.name, description: Weather.description,
  parameters: Weather.schema, parse: JSON.parse, function: (args) => weather.tell(args) } });

test('openai: an answer, with its usage and headers', async () => {
  const { data, response } = await client.chat.completions.create(asking(saying('<think>Hm.</think>\n\nHello there.'), { seed: 1 }))
    .withResponse();
  assert.equal(data.choices[0].message.content, 'Hello there.');
  assert.equal(data.choices[0].message.reasoning_content.trim(), 'Hm.');
  assert.equal(data.choices[0].finish_reason, 'stop');
  assert.equal(data.usage.total_tokens, data.usage.prompt_tokens + data.usage.completion_tokens);
  assert.ok(data.usage.completion_tokens_details.reasoning_tokens > 0);
  assert.equal(response.headers.get('x-rkllm-ignored'), 'seed');
  assert.equal(data._request_id, response.headers.get('x-request-id'));
});

test('openai: roles, parts, names and several answers', async () => {
  const { choices } = await client.chat.completions.create({ model: kModel, n: 2, stop: ['!!'], max_completion_tokens: 50, messages: [
    { role: 'developer', content: 'Be brief.' }, { role: 'system', content: [{ type: 'text', text: 'Be kind.' }] },
    { role: 'user', name: 'ann', content: [{ type: 'text', text: 'Hello\n' }, { type: 'text', text: saying('Good day!! and more') }] },
  ] });
  assert.deepEqual(choices.map(({ index, message }) => [index, message.content]), [[0, 'Good day'], [1, 'Good day']]);
});

test('openai: a stream and its helper, with usage at the end', async () => {
  const stream = client.chat.completions.stream(asking(saying('One two three.'), { stream_options: { include_usage: true } }));
  let text = '';
  stream.on('content', (delta) => { text += delta; });
  const whole = await stream.finalChatCompletion();
  assert.equal(text, 'One two three.');
  assert.equal(whole.choices[0].message.content, text);
  assert.equal((await stream.totalUsage()).completion_tokens, whole.usage.completion_tokens);
});

test('openai: a stream that is aborted stops its run', async () => {
  const stream = await client.chat.completions.create({ ...asking(kEndless), model: kSlowModel, stream: true });
  for await (const chunk of stream) {
    if (chunk.choices[0].delta.content) break; // which aborts the request
  }
  await board.until_busy(kSlowModel, false);
});

for (const stream of [false, true]) {
  test(`openai: the tools runner calls and comes back, stream: ${stream}`, async () => {
    const weather = new Weather();
    const runner = client.chat.completions.runTools({ ...asking(weather_story(`Hue ${stream}`)), stream, tools: [function_tool(weather)] });
    assert.equal(await runner.finalContent(), `It is sunny in Hue ${stream}.`);
    assert.deepEqual(weather.asked, [`Hue ${stream}`]);
    assert.equal((await runner.finalFunctionToolCallResult()), Weather.result);
  });
}

test('openai: a tool that must be called is called, and several can be', async () => {
  const tools = [function_tool(new Weather())];
  const forced = await client.chat.completions.create(asking(saying('{"city": "Da Nang"}}\n</tool_call>'),
    { tools, tool_choice: { type: 'function', function: { name: Weather.name } } }));
  assert.equal(forced.choices[0].message.tool_calls[0].function.name, Weather.name);
  assert.equal(forced.choices[0].finish_reason, 'tool_calls');
  const both = calling(Weather.name, { city: 'A' }) + '\n' + calling(Weather.name, { city: 'B' });
  const stream = client.chat.completions.stream(asking(saying(both), { tools }));
  const [{ message }] = (await stream.finalChatCompletion()).choices;
  assert.deepEqual(message.tool_calls.map((call) => JSON.parse(call.function.arguments).city), ['A', 'B']);
  assert.equal(new Set(message.tool_calls.map(({ id }) => id)).size, 2);
});

test('openai: zodResponseFormat is kept to, at the second try if need be', async () => {
  const wanted = { city: 'Hanoi', people: 8 };
  const asked = asking(saying('{"city": 5}', JSON.stringify(wanted)), { response_format: zodResponseFormat(City, 'city') });
  const { choices } = await client.chat.completions.parse(asked);
  assert.deepEqual(choices[0].message.parsed, wanted);
  const stream = client.chat.completions.stream({ ...asked, messages: [user(saying(JSON.stringify({ ...wanted, people: 9 })))] });
  assert.deepEqual((await stream.finalChatCompletion()).choices[0].message.parsed, { ...wanted, people: 9 });
});

test('openai: embeddings in its default, base64, are those of float', async () => {
  const asked = { model: kModel, input: ['a cat', 'the law of the sea'] };
  const decoded = await client.embeddings.create(asked);
  const plain = await client.embeddings.create({ ...asked, encoding_format: 'float' });
  assert.equal(decoded.data.length, 2);
  assert.ok(decoded.usage.total_tokens > 0);
  for (const [i, { embedding }] of decoded.data.entries()) {
    assert.equal(embedding.length, 8);
    embedding.forEach((value, j) => assert.ok(Math.abs(value - plain.data[i].embedding[j]) < 1e-6));
  }
  assert.equal((await client.embeddings.create({ ...asked, dimensions: 4 })).data[0].embedding.length, 4);
});

test('openai: a raw prompt is completed', async () => {
  const whole = await client.completions.create({ model: kModel, prompt: saying('at once.'), max_tokens: 30 });
  assert.equal(whole.choices[0].text, 'at once.');
  let text = '';
  for await (const { choices } of await client.completions.create({ model: kModel, prompt: saying('in pieces.'), stream: true })) {
    text += choices[0]?.text ?? '';
  }
  assert.equal(text, 'in pieces.');
});

test('openai: a response, and its stream', async () => {
  const whole = await client.responses.create({ model: kModel, instructions: 'Be brief.', input: saying('<think>Hm.</think>\n\nHello.') });
  assert.equal(whole.output_text, 'Hello.');
  assert.equal(whole.status, 'completed');
  assert.equal(whole.output[0].type, 'reasoning');
  const stream = client.responses.stream({ model: kModel, input: [user(saying('Hello in pieces.'))] });
  let text = '';
  stream.on('response.output_text.delta', ({ delta }) => { text += delta; });
  const last = await stream.finalResponse();
  assert.equal(text, 'Hello in pieces.');
  assert.equal(last.output_text, text);
  assert.ok(last.usage.output_tokens > 0);
});

test('openai: responses are parsed, and call tools', async () => {
  const parsed = await client.responses.parse({ model: kModel, input: saying('{"city":"Vinh","people":1}'),
    text: { format: zodTextFormat(City, 'city') } });
  assert.deepEqual(parsed.output_parsed, { city: 'Vinh', people: 1 });
  const weather = new Weather();
  const tools = [{ type: 'function', name: Weather.name, description: Weather.description, parameters: Weather.schema, strict: true }];
  const input = [user(weather_story('Can Tho'))];
  const first = await client.responses.stream({ model: kModel, input, tools }).finalResponse();
  const call = first.output.find(({ type }) => type === 'function_call');
  input.push(...first.output, { type: 'function_call_output', call_id: call.call_id, output: weather.tell(JSON.parse(call.arguments)) });
  const second = await client.responses.create({ model: kModel, input, tools });
  assert.equal(second.output_text, 'It is sunny in Can Tho.');
  assert.deepEqual(weather.asked, ['Can Tho']);
});

test('openai: a stored response is gone on from with what is new alone', async () => {
  const weather = new Weather();
  const tools = [{ type: 'function', name: Weather.name, description: Weather.description, parameters: Weather.schema, strict: true }];
  const first = await client.responses.create({ model: kModel, input: [user(weather_story('Hue'))], tools, store: true });
  const call = first.output.find(({ type }) => type === 'function_call');
  const output = [{ type: 'function_call_output', call_id: call.call_id, output: weather.tell(JSON.parse(call.arguments)) }];
  const second = await client.responses.stream({ model: kModel, input: output, tools, previous_response_id: first.id }).finalResponse();
  assert.equal(second.output_text, 'It is sunny in Hue.');
  assert.equal(second.previous_response_id, first.id);
  await assert.rejects(client.responses.create({ model: kModel, input: 'x', previous_response_id: second.id }), { status: 404 });
});

test('openai: models are listed and looked up', async () => {
  const names = [];
  for await (const model of client.models.list()) names.push(model.id);
  assert.deepEqual(names.sort(), kModels);
  assert.equal((await client.models.retrieve(kModel)).id, kModel);
});

test('openai: what is wrong is an error of its kind', async () => {
  const ask = (more) => client.chat.completions.create(asking('Hello', more));
  await assert.rejects(ask({ model: 'gpt-9' }), (error) => error instanceof OpenAI.NotFoundError && error.code === 'model_not_found');
  await assert.rejects(ask({ temperature: 9, stream: true }), (error) => error instanceof OpenAI.BadRequestError && error.param === 'temperature');
  await assert.rejects(ask({ messages: [user('word '.repeat(5 * kContext))] }), { status: 400, code: 'context_length_exceeded' });
  await assert.rejects(ask({ messages: [user([{ type: 'image_url', image_url: { url: kPicture } }])] }), { status: 400 });
  await assert.rejects(client.responses.create({ model: kModel, input: 'x', previous_response_id: 'resp_gone' }), { status: 404 });
  await assert.rejects(client.embeddings.create({ model: kModel, input: 'word '.repeat(5 * kContext) }), { status: 400 });
});
