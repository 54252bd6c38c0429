// What the tests of the page share: two real servers, on the simulator, one Chromium, and what a person does in a page.
//
// TESTED_PROGRAM names the binary.
import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before } from 'node:test';

import { Server } from '../clients/support/server.mjs';
import { start_browser } from './browser.mjs';

const axe = await readFile(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
export const kToken = 'right-horse-battery-staple-right';
export const kGuestToken = 'guest-horse-battery-staple-guest';

export const kContext = 65536; // for a question as long as its answer

export let directory;
export let server; // everybody may call
export let guarded; // asks for an access token
export let browser;
export const at = (which) => `http://127.0.0.1:${which.port('http')}`;

before(async () => {
  directory = await mkdtemp(join(tmpdir(), 'rkllm-mcp-page-'));
  const model = (name, fields) =>
    writeFile(join(directory, `${name}.rkllm`), JSON.stringify({ rkllm_simulated_model: 1, name: `SIMULATED ${name}`, max_context_len: kContext, ...fields }));
  await model('qwen2-board', { decode_tokens_per_s: 16.7, prefill_tokens_per_s: 340, languages: { en: 1, vi: 1 } });
  await model('qwen2-quick', {});
  await model('qwen2-slow', { decode_tokens_per_s: 20 });
  await model('qwen2-stream', { decode_tokens_per_s: 2500 });
  await model('qwen3-thinker', { decode_tokens_per_s: 60, thinking: true });
  const tokens = join(directory, 'tokens');
  await writeFile(tokens, `tester ${kToken}\nguest ${kGuestToken} call\n`, { mode: 0o600 });
  const settings = { 'runtime.model_dirs': JSON.stringify([directory]), 'runtime.default_context': kContext };
  [server, guarded, browser] = await Promise.all([Server.start(settings), Server.start({ ...settings, 'auth.tokens': tokens, 'http.address': '0.0.0.0' }), start_browser()]);
});

after(async () => {
  await browser?.close();
  await Promise.all([server?.stop(), guarded?.stop()]);
  await rm(directory, { recursive: true, force: true });
});

export const message_field = (page) => page.getByLabel('Message', { exact: true });
export const answers = (page) => page.locator('article.answer');
export const say = (text) => `@say=${JSON.stringify(text).replaceAll('<', '\\u003c')}`;

export async function use_model(page, name) {
  await page.getByLabel('Model', { exact: true }).and(page.locator('select')).selectOption(name);
}

export async function ask(page, text) {
  await message_field(page).fill(text);
  await message_field(page).press('Enter');
}

// The answer that is the `count`-th, when it is complete.
export async function complete(page, count = 1) {
  await answers(page).nth(count - 1).getByRole('button', { name: 'Copy the answer' }).waitFor();
  return answers(page).nth(count - 1);
}

export async function end(page) {
  assert.deepEqual(page.faults, []);
  await page.context().close();
}

export async function assert_accessible(page) {
  await page.evaluate(axe);
  const { violations } = await page.evaluate(() => globalThis.axe.run(document, { resultTypes: ['violations'] }));
  assert.deepEqual(violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html, failureSummary }) => html + failureSummary).join(' | ')}`), []);
}

export const tokens_generated = async () => Number(/^rkllm_mcp_tokens_total (\d+)/m.exec(await (await fetch(`${at(server)}/metrics`)).text())[1]);
