// Languages, small screens, the keyboard.
import assert from 'node:assert/strict';
import { test } from 'node:test';

import { answers, assert_accessible, at, browser, complete, end, message_field, say, server, use_model } from './bench.mjs';
import { open_page } from './browser.mjs';

test('Vietnamese: the page, the question and the answer', async () => {
  const page = await open_page(browser, at(server), { locale: 'vi-VN' });
  await page.getByRole('link', { name: 'Trò chuyện' }).waitFor();
  assert.equal(await page.locator('html').getAttribute('lang'), 'vi');
  await page.getByLabel('Mô hình', { exact: true }).and(page.locator('select')).selectOption('qwen2-quick');
  const text = 'Răng khôn mọc lệch gây đau: hãy đến gặp nha sĩ sớm nhé! 🦷';
  await page.getByLabel('Tin nhắn', { exact: true }).fill(say(text));
  await page.keyboard.press('Enter');
  await answers(page).getByRole('button', { name: 'Sao chép câu trả lời' }).waitFor();
  assert.equal((await answers(page).locator('.part').first().textContent()).trim(), text);
  await assert_accessible(page);
  await page.getByLabel('Ngôn ngữ').selectOption('en');
  await page.getByRole('link', { name: 'Models' }).waitFor();
  await end(page);
});

// Every part of the page can be reached without scrolling sideways.
async function assert_tabs_in_sight(page) {
  const tabs = await page.locator('nav').evaluate((nav) => ({
    hidden: nav.scrollWidth - nav.clientWidth,
    outside: [...nav.children].filter((tab) => tab.getBoundingClientRect().left < 0 || tab.getBoundingClientRect().right > innerWidth).length,
  }));
  assert.deepEqual(tabs, { hidden: 0, outside: 0 });
}

test('375 pixels, dark, by the keyboard alone', async () => {
  const page = await open_page(browser, at(server), { viewport: { width: 375, height: 740 }, colorScheme: 'dark' });
  await page.getByText('SIMULATED').waitFor();
  assert.equal(await page.locator('html').getAttribute('data-theme'), 'dark');
  await use_model(page, 'qwen2-quick');
  await page.keyboard.press('Tab');
  await page.keyboard.press('Tab');
  await page.locator(':focus').waitFor();
  await message_field(page).focus();
  await page.keyboard.type(say(`A wide one: ${'w'.repeat(300)}\n\n| a | b |\n|---|---|\n| ${'x'.repeat(200)} | 2 |\n\n\`\`\`\n${'y'.repeat(200)}\n\`\`\``));
  await page.keyboard.press('Enter');
  await complete(page);
  for (const view of ['chat', 'models', 'board', 'tools', 'log', 'connect']) {
    await page.evaluate((hash) => (location.hash = hash), view);
    await page.locator(`nav a[href="#${view}"][aria-current]`).waitFor();
    const { wide, shown } = await page.evaluate(() => ({ wide: Math.max(document.documentElement.scrollWidth, document.querySelector('main').scrollWidth), shown: innerWidth }));
    assert.ok(wide <= shown, `${view} is ${wide} pixels wide`);
    await assert_accessible(page);
  }
  await assert_tabs_in_sight(page);
  await page.getByLabel('Language').selectOption('vi');
  await page.getByRole('link', { name: 'Nhật ký' }).waitFor();
  await assert_tabs_in_sight(page);
  await end(page);
});

test('light and dark: as the device, until one is chosen, which is kept, and every part can be read in both', async () => {
  const page = await open_page(browser, at(server), { colorScheme: 'light' });
  const shown = () => page.locator('html').getAttribute('data-theme');
  const brightness = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor.match(/\d+/g).slice(0, 3).reduce((sum, each) => sum + Number(each), 0) / 3);
  const choice = page.getByLabel('Colours');
  await choice.waitFor();
  assert.equal(await shown(), 'light');
  await page.emulateMedia({ colorScheme: 'dark' });
  await page.locator('html[data-theme="dark"]').waitFor();
  for (const theme of ['light', 'dark']) {
    await choice.selectOption(theme);
    assert.equal(await shown(), theme);
    await page.reload();
    await choice.waitFor();
    assert.equal(await shown(), theme);
    assert.ok(theme === 'light' ? (await brightness()) > 200 : (await brightness()) < 60);
    for (const view of ['chat', 'models', 'board', 'tools', 'log', 'connect']) {
      await page.evaluate((hash) => (location.hash = hash), view);
      await page.locator(`nav a[href="#${view}"][aria-current]`).waitFor();
      await assert_accessible(page);
    }
  }
  await choice.selectOption('system');
  await page.emulateMedia({ colorScheme: 'light' });
  await page.locator('html[data-theme="light"]').waitFor();
  await end(page);
});
