// The log, the tools, and what other programs paste to connect.
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';

import { eventually } from '../clients/support/eventually.mjs';
import { assert_accessible, at, browser, end, guarded, kGuestToken, kToken, server } from './bench.mjs';
import { open_page } from './browser.mjs';

test('the log is shown as it is written, and only to who may see it', async () => {
  const page = await open_page(browser, at(server), { hash: '#log' });
  const lines = page.getByRole('log');
  await lines.getByText(/info: rkllm-mcp \d/).waitFor();
  const call = (method) => fetch(`${at(server)}/jsonrpc`, { method: 'POST', body: JSON.stringify({ jsonrpc: '2.0', id: 1, method }) });
  await call('rkllm_seen_in_the_log');
  await lines.getByText('rkllm_seen_in_the_log').waitFor();
  await page.getByLabel('Only lines with').fill('SEEN_IN');
  await eventually(async () => (await lines.textContent()).split('\n').every((line) => line.includes('seen_in')));
  await call('rkllm_seen_in_it_again');
  await lines.getByText('rkllm_seen_in_it_again').waitFor();
  await assert_accessible(page);
  await end(page);

  const guest = await open_page(browser, at(guarded), { hash: '#log' });
  await guest.getByRole('dialog').getByLabel('Access token').fill(kGuestToken);
  await guest.keyboard.press('Enter');
  await guest.getByText('The log is shown only to access tokens with the permission admin.').waitFor();
  assert.equal(await guest.getByRole('log').textContent(), '');
  await guest.getByRole('button', { name: 'Access token' }).click();
  await guest.getByRole('dialog').getByLabel('Access token').fill(kToken);
  await guest.keyboard.press('Enter');
  await guest.getByRole('log').getByText(/info: rkllm-mcp \d/).waitFor();
  await end(guest);
});

test('any tool is called by a form that its schema makes', async () => {
  const page = await open_page(browser, at(server), { hash: '#tools' });
  await page.getByLabel('Find a tool').fill('calc');
  await page.getByRole('button', { name: 'Calculate' }).click();
  await page.getByRole('button', { name: 'Call it' }).click();
  await page.getByText('expression is needed').waitFor();
  await page.getByLabel('expression').fill('0.1 + 0.2');
  await page.getByRole('button', { name: 'Call it' }).click();
  await page.locator('pre.result', { hasText: '"result": "0.3"' }).waitFor();
  await page.getByLabel('expression').fill('1 / 0');
  await page.getByRole('button', { name: 'Call it' }).click();
  await page.getByText('The tool has failed').waitFor();
  await assert_accessible(page);
  await page.getByLabel('Find a tool').fill('rkllm_init');
  await page.getByRole('button', { name: /rkllm_init/ }).click();
  await page.getByLabel(/^param/).fill('{');
  await page.getByRole('button', { name: 'Call it' }).click();
  await page.getByText('param: this is no JSON').waitFor();

  await page.getByRole('link', { name: 'Connect' }).click();
  await page.getByLabel('Program').selectOption('Cursor');
  await page.getByText(`${at(server)}/mcp`).waitFor();
  await page.getByRole('button', { name: 'Copy' }).click();
  await page.getByRole('button', { name: 'Copied' }).waitFor();
  await assert_accessible(page);
  await end(page);
});

test('each client that the documentation has a page for is among those to connect', async () => {
  const page = await open_page(browser, at(server), { hash: '#connect' });
  const offered = (await page.getByLabel('Program').locator('option').allTextContents()).map((name) => name.toLowerCase());
  const documented = [...(await readFile(process.env.DOCUMENTED_CLIENTS, 'utf8')).matchAll(/^\| \[([^\]]+)\]\((.+)\.md\)/gm)];
  assert.ok(documented.length >= 10);
  for (const [, title, file] of documented) {
    const names = file === 'programs' ? ['curl'] : [title.toLowerCase(), file]; // of programs.md the first
    assert.ok(offered.some((each) => names.some((name) => each.startsWith(name))), `${title} is none of ${offered.join(', ')}`);
  }
  await end(page);
});
