// Who gets the page, who may use it, and from where.
import assert from 'node:assert/strict';
import { test } from 'node:test';

import { ask, assert_accessible, at, browser, complete, end, guarded, kToken, server, use_model } from './bench.mjs';
import { open_page, watch } from './browser.mjs';

test('the page is served with a strict policy, and only to who asks for it', async () => {
  const address = at(server);
  const html = await fetch(`${address}/`, { headers: { Accept: 'text/html' } });
  assert.equal(html.status, 200);
  assert.match(html.headers.get('content-security-policy'), /^default-src 'self'; /);
  assert.doesNotMatch(html.headers.get('content-security-policy'), /unsafe/);
  const again = await fetch(`${address}/`, { headers: { Accept: 'text/html', 'If-None-Match': html.headers.get('etag') } });
  assert.equal(again.status, 304);
  assert.equal(await (await fetch(`${address}/`, { headers: { Accept: '*/*' } })).text(), 'Ollama is running');
});

test('a wrong access token is refused in words, a right one opens everything', async () => {
  const page = await open_page(browser, at(guarded));
  const field = page.getByRole('dialog').getByLabel('Access token');
  await page.getByText('This server asks for an access token.').waitFor();
  await assert_accessible(page);
  await field.fill('wrong');
  await field.press('Enter');
  await page.getByText('Nobody has this access token.').waitFor();
  await field.fill(kToken);
  await page.getByRole('button', { name: 'Use it' }).click();
  await page.getByRole('dialog').waitFor({ state: 'hidden' });
  await use_model(page, 'qwen2-quick');
  await ask(page, '@n=3 Hello');
  await complete(page);
  // It is kept for this tab, and for nobody else.
  assert.deepEqual(await page.evaluate(() => [sessionStorage['rkllm.access_token'], Object.values(localStorage).join(), document.cookie]),
    [kToken, 'qwen2-quick', '']);
  await page.reload();
  await complete(page);
  const other = await page.context().newPage();
  watch(other, at(guarded));
  await other.goto(`${at(guarded)}/`);
  await other.getByText('This server asks for an access token.').waitFor();
  await end(page);
});

test('a page that was opened under a name the server does not know says what to do', async () => {
  const address = `http://board.local:${guarded.port('http')}`;
  const page = await open_page(browser, address);
  await page.getByRole('dialog').getByLabel('Access token').fill(kToken);
  await page.keyboard.press('Enter');
  await page.getByRole('dialog').waitFor({ state: 'hidden' });
  await use_model(page, 'qwen2-quick');
  await ask(page, '@n=3 Hello');
  await page.getByText('start the server with --set http.allowed_hosts=board.local').waitFor();
  await end(page);
});
