// Everything without a mouse: what can be done is reached by Tab alone, and what was pressed keeps the focus.
import assert from 'node:assert/strict';
import { test } from 'node:test';

import { eventually } from '../clients/support/eventually.mjs';
import { answers, ask, at, browser, complete, end, message_field, server, use_model } from './bench.mjs';
import { open_page } from './browser.mjs';

const is_focused = (locator) => locator.evaluate((element) => element === document.activeElement);
const focused = (page) => page.evaluate(() => document.activeElement.outerHTML.slice(0, 80));

// A moment later at most: what a click changes is drawn after it.
async function has_focus(page, locator) {
  await eventually(() => is_focused(locator), 10_000).catch(async () => assert.fail(`the focus is lost, to ${await focused(page)}`));
}

// Forwards, and never past the end of the page.
async function tab_to(page, locator) {
  await locator.waitFor();
  const passed = [];
  while (!(await is_focused(locator))) {
    await page.keyboard.press('Tab');
    passed.push(await focused(page));
    assert.doesNotMatch(passed.at(-1), /^<body/, `not reached, only:\n${passed.join('\n')}`);
  }
}

test('by the keyboard alone a model is chosen, asked, stopped and asked again', async () => {
  const page = await open_page(browser, at(server));
  const model = page.getByLabel('Model', { exact: true }).and(page.locator('select'));
  const send = page.getByRole('button', { name: 'Send' });
  const stop = page.getByRole('button', { name: 'Stop' });
  await page.keyboard.press('Tab');
  assert.match(await focused(page), /class="skip"/);
  await page.keyboard.press('Enter');
  assert.match(await focused(page), /^<main/);
  await tab_to(page, model);
  await page.keyboard.type('qwen2-slow');
  assert.equal(await model.inputValue(), 'qwen2-slow');

  await tab_to(page, message_field(page));
  await page.keyboard.type('@n=4000 Hi');
  await tab_to(page, send);
  await page.keyboard.press('Enter');
  await tab_to(page, stop);
  await page.keyboard.press('Enter');
  await answers(page).getByText('Stopped').waitFor();
  await has_focus(page, send);
  await page.keyboard.press('Shift+Tab');
  await has_focus(page, message_field(page));

  await page.keyboard.type('@n=4000 Once more');
  await tab_to(page, send);
  await page.keyboard.press('Enter');
  await stop.waitFor();
  await page.keyboard.press('Escape');
  await answers(page).nth(1).getByText('Stopped').waitFor();
  await has_focus(page, send);
  await end(page);
});

test('by the keyboard alone what was said is edited, answered again, and its conversation renamed and deleted', async () => {
  const page = await open_page(browser, at(server));
  await use_model(page, 'qwen2-slow');
  await ask(page, '@n=2 Hi');
  await complete(page);
  const messages = page.getByRole('region', { name: 'What was said' });
  const assert_in_messages = () => has_focus(page, messages);
  const edit_it = async (text) => {
    await page.getByRole('button', { name: 'Edit' }).focus();
    await page.keyboard.press('Enter');
    await has_focus(page, page.getByLabel('Edit the message'));
    await page.keyboard.type(text);
  };
  await edit_it('never sent');
  await page.keyboard.press('Escape');
  await assert_in_messages();
  await edit_it(', and once more');
  await tab_to(page, page.getByRole('button', { name: 'Send again' }));
  await page.keyboard.press('Enter');
  await assert_in_messages();
  await complete(page);
  await tab_to(page, page.getByRole('button', { name: 'Answer again' }));
  await page.keyboard.press('Enter');
  await assert_in_messages();
  await complete(page);

  const rename = page.getByRole('button', { name: /^Rename “/ }).first();
  await rename.focus();
  await page.keyboard.press('Enter');
  await has_focus(page, page.getByLabel('New title'));
  await page.keyboard.type('By the keyboard');
  await page.keyboard.press('Enter');
  await page.getByRole('button', { name: 'Rename “By the keyboard”' }).waitFor();
  await has_focus(page, page.getByRole('button', { name: 'Rename “By the keyboard”' }));
  page.on('dialog', (dialog) => dialog.accept());
  await tab_to(page, page.getByRole('button', { name: 'Delete “By the keyboard”' }));
  await page.keyboard.press('Enter');
  await page.getByRole('button', { name: 'Delete “By the keyboard”' }).waitFor({ state: 'detached' });
  await has_focus(page, page.getByRole('button', { name: 'New chat' }));
  await end(page);
});

test('by the keyboard alone a model is loaded and unloaded', async () => {
  const page = await open_page(browser, at(server), { hash: '#models' });
  const load = page.getByRole('button', { name: 'Load: qwen2-stream', exact: true });
  const unload = page.getByRole('button', { name: 'Unload: qwen2-stream' });
  await load.or(unload).waitFor();
  for (let times = 0; times < 2; ++times) {
    const [pressed, next] = (await load.isVisible()) ? [load, unload] : [unload, load];
    await tab_to(page, pressed);
    await page.keyboard.press('Enter');
    await next.waitFor();
    await page.getByText(pressed === load ? 'qwen2-stream is loaded.' : 'qwen2-stream is not loaded any more.').waitFor();
    await has_focus(page, next);
  }
  await end(page);
});

test('by the keyboard alone a tool is found and called', async () => {
  const page = await open_page(browser, at(server), { hash: '#tools' });
  const call = page.getByRole('button', { name: 'Call it' });
  await tab_to(page, page.getByLabel('Find a tool'));
  await page.keyboard.type('calc');
  await tab_to(page, page.getByRole('button', { name: 'Calculate' }));
  await page.keyboard.press('Enter');
  await tab_to(page, page.getByLabel('expression'));
  await page.keyboard.type('6 * 7');
  await tab_to(page, call);
  await page.keyboard.press('Enter');
  await page.locator('pre.result', { hasText: '42' }).waitFor();
  await has_focus(page, call);
  await end(page);
});
