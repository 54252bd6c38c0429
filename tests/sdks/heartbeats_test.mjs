// What keeps a stream alive during a long prefill is borne by each publisher's SDK, and comes at all.
import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';

import Anthropic from '@anthropic-ai/sdk';
import { Ollama } from 'ollama';
import OpenAI from 'openai';

import { Board, saying } from './support/board.mjs';

const kModels = ['qwen3-chat', 'qwen3-responses', 'qwen3-messages', 'qwen3-ollama']; // one for each test, so that they wait at the same time
const kTokensPerSecond = 40; // of the prompt, which has more than twice as many tokens as are computed between two signs

let board;
let openai;
before(async () => {
  board = await Board.start({ 'chat.heartbeat_s': 1 });
  const file = JSON.stringify({ rkllm_simulated_model: 1, name: 'SIMULATED patience', prefill_tokens_per_s: kTokensPerSecond });
  for (const name of kModels) await writeFile(join(board.folder, `${name}.rkllm`), file);
  openai = new OpenAI({ baseURL: board.openai_url, apiKey: 'none', maxRetries: 0 });
});
after(() => board.stop());

const asking = (name) => `${`${name} has a prompt of its own that takes its time. `.repeat(4)}\n${saying(`Hello ${name}.`)}`;

describe('heartbeats', { concurrency: true }, () => {
  test('openai: chat chunks without content', async () => {
    let empty = 0;
    const stream = openai.chat.completions.stream({ model: kModels[0], messages: [{ role: 'user', content: asking('chat') }] });
    stream.on('chunk', ({ choices }) => { if (!choices[0].delta.content && !choices[0].finish_reason) ++empty; });
    assert.equal(await stream.finalContent(), 'Hello chat.');
    assert.ok(empty >= 2, `${empty} chunks without content`);
  });

  test('openai: responses in progress', async () => {
    let signs = 0;
    const stream = openai.responses.stream({ model: kModels[1], input: asking('responses') });
    stream.on('response.in_progress', () => { ++signs; });
    assert.equal((await stream.finalResponse()).output_text, 'Hello responses.');
    assert.ok(signs >= 2, `${signs} times in progress`);
  });

  test('anthropic: pings', async () => {
    let raw;
    const watched = async (...asked) => {
      const answer = await fetch(...asked);
      const [one, other] = answer.body.tee();
      raw = new Response(other).text();
      return new Response(one, answer);
    };
    const client = new Anthropic({ baseURL: board.url, apiKey: 'none', maxRetries: 0, fetch: watched });
    const stream = client.messages.stream({ model: kModels[2], max_tokens: 50, messages: [{ role: 'user', content: asking('messages') }] });
    assert.equal(await stream.finalText(), 'Hello messages.');
    assert.match(await raw, /event: ping\n/);
  });

  test('ollama: pieces without content', async () => {
    let empty = 0;
    let text = '';
    const client = new Ollama({ host: board.url });
    const messages = [{ role: 'user', content: asking('ollama') }];
    for await (const part of await client.chat({ model: kModels[3], messages, stream: true })) {
      if (!part.done && part.message.content === '') ++empty;
      text += part.message.content;
    }
    assert.equal(text, 'Hello ollama.');
    assert.ok(empty >= 2, `${empty} pieces without content`);
  });
});
