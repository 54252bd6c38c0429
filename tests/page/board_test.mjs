// Models, runs and the figures of the board.
import assert from 'node:assert/strict';
import { test } from 'node:test';

import { assert_accessible, at, browser, end, server, tokens_generated } from './bench.mjs';
import { open_page } from './browser.mjs';

test('models are loaded and unloaded, and runs and figures are shown as they are', async () => {
  const page = await open_page(browser, at(server), { hash: '#models' });
  const card = page.getByRole('listitem').filter({ has: page.getByRole('heading', { name: 'qwen2-quick' }) });
  await page.getByRole('button', { name: /^(Load|Unload): qwen2-quick/ }).waitFor();
  if (await page.getByRole('button', { name: 'Unload: qwen2-quick' }).isVisible()) {
    await page.getByRole('button', { name: 'Unload: qwen2-quick' }).click();
    await page.getByText('qwen2-quick is not loaded any more.').waitFor();
  }
  await page.getByRole('button', { name: 'Load: qwen2-quick' }).click();
  await page.getByText('qwen2-quick is loaded.').waitFor();
  await card.getByText('65,536 tokens').waitFor();
  await card.getByText('loaded', { exact: true }).waitFor();
  await assert_accessible(page);

  await page.getByRole('link', { name: 'Board' }).click();
  await page.getByText('NPU temperature, °C: unknown').waitFor(); // there is no NPU here
  await page.getByText('NPU load, %: unknown').waitFor();
  await page.getByRole('heading', { name: 'qwen2-quick' }).waitFor();
  const before = await tokens_generated();
  await fetch(`${at(server)}/v1/chat/completions`, { method: 'POST', body: JSON.stringify({ model: 'qwen2-quick', messages: [{ role: 'user', content: '@n=50 Hi' }] }) });
  assert.ok((await tokens_generated()) >= before + 50);
  await page.getByRole('img', { name: /^Tokens per second, all models: \d/ }).waitFor();
  await page.getByRole('img', { name: /^Time to first token of chats, seconds: \d/ }).waitFor();
  await assert_accessible(page);
  await end(page);
});

test('a run and those that wait for it are seen while they last', async () => {
  const page = await open_page(browser, at(server), { hash: '#board' });
  const given_up = new AbortController();
  const body = JSON.stringify({ model: 'qwen2-slow', messages: [{ role: 'user', content: '@n=4000 Hi' }], stream: true });
  for (let count = 0; count < 2; ++count) {
    fetch(`${at(server)}/v1/chat/completions`, { method: 'POST', body, signal: given_up.signal }).then((each) => each.text()).catch(() => {});
  }
  const card = page.getByRole('listitem').filter({ has: page.getByRole('heading', { name: 'qwen2-slow' }) });
  await card.getByText('answering').waitFor();
  const waiting = card.getByRole('listitem');
  await waiting.getByText(/^a chat, waiting for [\d.]+ s/).waitFor();
  assert.equal(await waiting.count(), 1);
  given_up.abort();
  await card.getByText('idle').waitFor();
  await waiting.waitFor({ state: 'detached' });
  await card.locator('dt:text-is("Queue") + dd:text-is("0")').waitFor();
  await end(page);
});

test('what memory a model takes is told after its first run, and unknown before', async () => {
  const page = await open_page(browser, at(server), { hash: '#models' });
  const card = page.getByRole('listitem').filter({ has: page.getByRole('heading', { name: 'qwen2-board' }) });
  const memory = card.locator('dt:text-is("Memory") + dd');
  await memory.getByText('unknown').waitFor();
  await fetch(`${at(server)}/v1/chat/completions`, { method: 'POST', body: JSON.stringify({ model: 'qwen2-board', messages: [{ role: 'user', content: '@n=3 Hi' }] }) });
  await memory.getByText(/^[\d,.]+ MB/).waitFor();
  await end(page);
});

test('what the kernel tells of the NPU is plotted, and gaps stay gaps', async () => {
  const page = await open_page(browser, at(server), { hash: '#models' });
  let load = 0.2;
  await page.route('**/metrics', async (route) => {
    const text = await (await route.fetch()).text();
    load += 0.2;
    await route.fulfill({ body: `${text}rkllm_mcp_npu_load_ratio{core="0"} ${load}\nrkllm_mcp_npu_load_ratio{core="1"} 0\nrkllm_mcp_npu_temperature_celsius 48.5\n` });
  });
  await page.getByRole('link', { name: 'Board' }).click();
  await page.getByRole('img', { name: /^NPU temperature, °C: 48.5/ }).waitFor();
  await page.getByRole('img', { name: /^NPU load, %: \d\d/ }).waitFor();
  assert.ok((await page.locator('canvas').count()) >= 2);
  await end(page);
});
