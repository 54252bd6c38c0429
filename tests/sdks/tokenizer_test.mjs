// A tokenizer.json beside a model: its tokens are those of @huggingface/tokenizers, and count_tokens is exact.
import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';

import Anthropic from '@anthropic-ai/sdk';
import { Tokenizer } from '@huggingface/tokenizers';

import { eventually } from '../clients/support/eventually.mjs';
import { Board, kModel, saying } from './support/board.mjs';
import { kTexts, kTokenizers } from './support/made_up_tokenizers.mjs';

const kAlone = 'alone';
const kNames = [...Object.keys(kTokenizers).map((name) => `tokens-${name}`), 'back', 'changing', 'empty', 'half', 'qwen3-exact', 'unigram', 'wrong'];
let board;
let own; // a folder with one model
before(async () => {
  own = await mkdtemp(join(tmpdir(), 'rkllm-mcp-own-'));
  const path = join(own, `${kAlone}.rkllm`);
  await writeFile(path, JSON.stringify({ rkllm_simulated_model: 1, name: 'SIMULATED alone' }));
  await writeFile(join(own, 'tokenizer.json'), JSON.stringify(kTokenizers.qwen));
  board = await Board.start({}, { [kAlone]: { param: { model_path: path } } });
  for (const name of kNames) {
    await writeFile(join(board.folder, `${name}.rkllm`), JSON.stringify({ rkllm_simulated_model: 1, name: `SIMULATED ${name}` }));
  }
  await eventually(async () => (await (await fetch(`${board.url}/v1/models`)).text()).includes(kNames.at(-1)));
});
after(async () => {
  await board.stop();
  await rm(own, { recursive: true });
});

const post = (path, body) => fetch(board.url + path, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) });

async function answer(path, body) {
  const response = await post(path, body);
  const text = await response.text();
  assert.equal(response.status, 200, text);
  return JSON.parse(text);
}

const put_beside = (name, text) => writeFile(join(board.folder, `${name}.tokenizer.json`), text);

describe('a tokenizer beside the model', () => {
  for (const [name, file] of Object.entries(kTokenizers)) {
    test(`makes the tokens that its publisher's library makes: ${name}`, async () => {
      await put_beside(`tokens-${name}`, JSON.stringify(file));
      const theirs = new Tokenizer(file, {});
      let longest = 0;
      for (const content of kTexts) {
        for (const add_special of [false, true]) {
          const { tokens } = await answer('/tokenize', { model: `tokens-${name}`, content, add_special });
          assert.deepEqual(tokens, theirs.encode(content, { add_special_tokens: add_special }).ids, JSON.stringify(content));
          longest = Math.max(longest, tokens.length);
        }
      }
      assert.ok(longest > 100);
    });
  }

  test('gives every text back', async () => {
    await put_beside('back', JSON.stringify(kTokenizers.llama));
    for (const content of kTexts) {
      const { tokens } = await answer('/tokenize', { model: 'back', content });
      assert.equal((await answer('/detokenize', { model: 'back', tokens })).content, content);
    }
    const { tokens } = await answer('/tokenize', { model: 'back', content: 'a răng', with_pieces: true });
    assert.equal(Buffer.concat(tokens.map(({ piece }) => Buffer.from(piece))).toString(), 'a răng');
  });

  test('counts what Anthropic asks for exactly; without one it is an estimate', async () => {
    const prompt = (model) => ({ model, messages: [{ role: 'user', content: 'Tôi nên làm gì?' }] });
    const client = new Anthropic({ baseURL: board.url, apiKey: 'none', maxRetries: 0 });
    await put_beside('qwen3-exact', JSON.stringify(kTokenizers.qwen));
    const exact = await client.messages.countTokens(prompt('qwen3-exact'));
    const text = (await answer('/apply-template', prompt('qwen3-exact'))).prompt;
    assert.equal(exact.input_tokens, new Tokenizer(kTokenizers.qwen, {}).encode(text).ids.length);
    assert.equal(exact.estimate, undefined);
    assert.equal((await client.messages.countTokens(prompt(kModel))).estimate, true);
  });

  test('an idle model without a conversation counts by its prefill', async () => {
    const client = new Anthropic({ baseURL: board.url, apiKey: 'none', maxRetries: 0 });
    const prompt = { model: kModel, messages: [{ role: 'user', content: 'Tôi nên làm gì?' }] };
    await answer('/api/generate', { model: kModel, keep_alive: 0 });
    await answer('/api/generate', { model: kModel });
    const counted = await client.messages.countTokens(prompt);
    assert.equal(counted.estimate, undefined);
    const { usage } = await client.messages.create({ ...prompt, max_tokens: 5 });
    assert.equal(usage.input_tokens + usage.cache_read_input_tokens, counted.input_tokens);
    assert.equal((await client.messages.countTokens(prompt)).estimate, true, 'there is a conversation now');
  });

  test('is not guessed where several models share a folder', async () => {
    await writeFile(join(board.folder, 'tokenizer.json'), JSON.stringify(kTokenizers.qwen));
    assert.equal((await post('/tokenize', { model: kModel, content: 'x' })).status, 400);
    assert.equal((await post('/tokenize', { model: kAlone, content: 'x' })).status, 200);
  });

  test('that is not understood is named in the log, and the model answers all the same', async () => {
    const other = { ...kTokenizers.qwen, model: { type: 'Unigram', vocab: [['a', -1]] } };
    for (const [name, text] of [['unigram', JSON.stringify(other)], ['half', JSON.stringify(kTokenizers.qwen).slice(0, 3000)], ['empty', '']]) {
      await put_beside(name, text);
      const refused = await post('/tokenize', { model: name, content: 'x' });
      assert.equal(refused.status, 400, `${name}: ${await refused.clone().text()}`);
      assert.match(await refused.text(), /no tokenizer\.json that is understood/);
      const said = await answer('/v1/chat/completions', { model: name, messages: [{ role: 'user', content: saying('Yes.') }] });
      assert.equal(said.choices[0].message.content, 'Yes.');
    }
    assert.match(board.server.log, /unigram\.tokenizer\.json is not used: it has a model of the type Unigram/);
  });

  test('is read again when it has changed', async () => {
    await put_beside('changing', JSON.stringify(kTokenizers.llama));
    const one = await answer('/tokenize', { model: 'changing', content: kTexts.at(-1) });
    await put_beside('changing', JSON.stringify(kTokenizers.sentence));
    const other = await answer('/tokenize', { model: 'changing', content: kTexts.at(-1) });
    assert.notDeepEqual(one, other);
  });

  test('wrong requests are refused with the field', async () => {
    await put_beside('wrong', JSON.stringify(kTokenizers.llama));
    for (const body of [{ content: 1 }, {}, { content: 'x', add_special: 'y' }]) {
      assert.equal((await post('/tokenize', { model: 'wrong', ...body })).status, 400);
    }
    for (const tokens of [[-1], [1e9], ['a'], 'a', [0.5]]) {
      assert.equal((await post('/detokenize', { model: 'wrong', tokens })).status, 400);
    }
  });
});
