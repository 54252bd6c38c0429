// Conversations: of several tabs, without the memory server, renamed and found again.
import assert from 'node:assert/strict';
import { test } from 'node:test';

import { eventually } from '../clients/support/eventually.mjs';
import { answers, ask, assert_accessible, at, browser, complete, end, say, server, use_model } from './bench.mjs';
import { open_page, watch } from './browser.mjs';

test('two tabs talk at the same time, each its own conversation', async () => {
  const one = await open_page(browser, at(server));
  const two = await one.context().newPage();
  watch(two, at(server));
  await two.goto(`${at(server)}/`);
  await use_model(one, 'qwen2-slow');
  await use_model(two, 'qwen2-slow');
  await ask(one, say('one '.repeat(10)));
  await ask(two, say('two '.repeat(10)));
  const texts = [(await complete(one)).locator('.part').first(), (await complete(two)).locator('.part').first()];
  assert.match(await texts[0].textContent(), /^(one ?)+\s*$/);
  assert.match(await texts[1].textContent(), /^(two ?)+\s*$/);
  assert.deepEqual(two.faults, []);
  await end(one);
});

test('without the memory server the page says so, and keeps the conversation in the tab', async () => {
  const page = await open_page(browser, at(server), { hash: '#connect' });
  await page.route('**/health', async (route) => {
    const health = await (await route.fetch()).json();
    await route.fulfill({ json: { ...health, services: {} } });
  });
  await page.goto(`${at(server)}/`);
  await page.getByText('The memory server is off').waitFor();
  await use_model(page, 'qwen2-quick');
  await ask(page, '@n=3 Only here');
  await complete(page);
  await page.reload();
  await complete(page);
  await page.getByRole('button', { name: 'New chat' }).click();
  await page.getByText('Ask the model on your board something.').waitFor();
  await end(page);
});

test('conversations are renamed, and found by what was said in them, with and without diacritics', async () => {
  const page = await open_page(browser, at(server));
  await use_model(page, 'qwen2-quick');
  await ask(page, say('Bánh cuốn Thanh Trì rất ngon'));
  await complete(page);
  await page.getByRole('button', { name: /^Rename “@say="Bánh/ }).click();
  const title = page.getByLabel('New title');
  await assert_accessible(page);
  await title.fill('Noodles');
  await title.press('Enter');
  await page.getByRole('button', { name: /^Noodles/ }).waitFor();
  await page.getByRole('button', { name: 'Rename “Noodles”' }).click();
  await title.press('Escape');
  await page.getByRole('button', { name: 'New chat' }).click();
  await ask(page, '@n=3 Something else');
  await complete(page);
  const search = page.getByRole('searchbox', { name: 'Search the conversations' });
  await search.fill('cuon thanh');
  await page.getByText('Conversations found: 1').waitFor();
  const found = page.locator('.conversations li');
  assert.equal(await found.count(), 1);
  await found.getByText('Bánh cuốn').waitFor();
  await assert_accessible(page);
  await found.getByRole('button', { name: /^Noodles/ }).click();
  await answers(page).getByText('Bánh cuốn Thanh Trì').waitFor();
  await search.fill('no such words anywhere');
  await page.getByText('Conversations found: 0').waitFor();
  await search.press('Escape');
  await page.getByRole('button', { name: /^@n=3 Something else/ }).waitFor();
  // One that the list does not show, since it has many newer ones before it, is opened with its title.
  await page.route('**/jsonrpc', async (route) => {
    const read = await (await route.fetch()).json();
    if (read.result?.conversations) read.result.conversations = read.result.conversations.filter(({ title }) => title !== 'Noodles');
    await route.fulfill({ json: read });
  });
  await page.reload();
  await page.getByRole('button', { name: /^@n=3 Something else/ }).waitFor();
  assert.equal(await page.getByRole('button', { name: /^Noodles/ }).count(), 0);
  await page.getByRole('button', { name: 'New chat' }).click();
  await search.fill('cuon thanh');
  await page.getByText('Conversations found: 1').waitFor();
  await page.locator('.conversations li button.open').click();
  await answers(page).getByText('Bánh cuốn Thanh Trì').waitFor();
  await eventually(() => page.evaluate(() => JSON.parse(sessionStorage['rkllm.conversation']).title === 'Noodles'));
  await end(page);
});
