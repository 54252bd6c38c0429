// The pictures of the documentation, where SCREENSHOTS=FOLDER says where they are written.
import { join } from 'node:path';
import { test } from 'node:test';

import { eventually } from '../clients/support/eventually.mjs';
import { Server } from '../clients/support/server.mjs';
import { answers, ask, at, browser, complete, directory, end, kContext, use_model } from './bench.mjs';
import { open_page } from './browser.mjs';

const picture = (page, name) => page.screenshot({ path: join(process.env.SCREENSHOTS, `${name}.png`) });

test('pictures for the documentation', async () => {
  const shown = await Server.start({ 'runtime.model_dirs': JSON.stringify([directory]), 'runtime.default_context': kContext });
  const page = await open_page(browser, at(shown), { viewport: { width: 1000, height: 640 } });
  await use_model(page, 'qwen2-board');
  for (const question of ['Why is the sky blue?', 'Viết cho tôi một bài thơ ngắn', 'What can a small board do for me?']) {
    await page.getByRole('button', { name: 'New chat' }).click();
    await ask(page, question);
    await complete(page);
  }
  await ask(page, 'Without the internet?');
  await complete(page, 2);
  await picture(page, 'chat');
  await page.setViewportSize({ width: 1000, height: 900 });
  await page.getByRole('link', { name: 'Board' }).click();
  for (let run = 0; run < 5; ++run) {
    await (await fetch(`${at(shown)}/v1/chat/completions`, { method: 'POST', body: JSON.stringify({ model: 'qwen2-board', messages: [{ role: 'user', content: `@n=${20 + 15 * run} Hi` }] }) })).text();
  }
  await page.getByRole('img', { name: /^Tokens per second, all models: \d/ }).waitFor();
  await eventually(async () => (await page.locator('.cards').textContent()).includes('idle'));
  await picture(page, 'board');
  await page.context().close();
  const phone = await open_page(browser, at(shown), { viewport: { width: 375, height: 740 }, colorScheme: 'dark', locale: 'vi-VN' });
  await phone.getByLabel('Tin nhắn', { exact: true }).fill('Bo mạch nhỏ làm được gì cho tôi?');
  await phone.keyboard.press('Enter');
  await answers(phone).getByRole('button', { name: 'Sao chép câu trả lời' }).waitFor();
  await picture(phone, 'phone');
  await end(phone);
  await shown.stop();
});
