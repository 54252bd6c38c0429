// What the web page shows to be pasted into other programs, pasted: those of its snippets that need nothing but curl, Node.js
// and this program, and those that name an address and headers. Snippets in Python are not run.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath, pathToFileURL } from 'node:url';

import { Board, kModel } from './support/board.mjs';

const kToken = 'a-token-of-this-test';
const kInitialize = { jsonrpc: '2.0', id: 1, method: 'initialize',
  params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'test', version: '1' } } };

let board;
let folder;
let shown; // the text of a snippet, with the access token in its place
before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'rkllm-mcp-tokens-'));
  const tokens = join(folder, 'tokens');
  await writeFile(tokens, `page ${kToken} call,admin\n`, { mode: 0o600 });
  board = await Board.start({ 'auth.tokens': tokens });
  const { kSnippets } = await import(pathToFileURL(process.env.PAGE_SNIPPETS));
  shown = (name) => kSnippets[name]({ at: board.url, model: kModel }).replaceAll('ACCESS_TOKEN', kToken);
});
after(async () => {
  await board?.stop();
  await rm(folder, { recursive: true, force: true });
});

// What it prints. `input`: on its standard input.
const run = (program, args, input = '') => new Promise((resolve, reject) => {
  const path = `${dirname(process.env.TESTED_PROGRAM)}:${process.env.PATH}`;
  const child = execFile(program, args, { env: { ...process.env, PATH: path }, timeout: 60_000 }, (error, out, errors) =>
    error ? reject(new Error(`${error.message}\n${errors}`)) : resolve(out));
  child.stdin.end(input);
});

test('page: the snippet for curl is answered, and without the access token it is refused', async () => {
  const { choices } = JSON.parse(await run('sh', ['-c', shown('curl')]));
  assert.ok(choices[0].message.content.length > 0);
  const { error } = JSON.parse(await run('sh', ['-c', shown('curl').replace(kToken, 'another')]));
  assert.match(error.message, /access token/);
});

test('page: the snippet for openai in Node.js prints an answer', async () => {
  const file = join(dirname(fileURLToPath(import.meta.url)), `pasted-${process.pid}.mjs`); // beside the packages
  await writeFile(file, shown('openai (Node)'));
  try {
    assert.ok((await run(process.execPath, [file])).trim().length > 0);
  } finally {
    await rm(file);
  }
});

test('page: the snippet for rkllm-mcp connects a host that starts commands', async () => {
  const reply = JSON.parse(await run('sh', ['-c', shown('rkllm-mcp')], `${JSON.stringify(kInitialize)}\n`));
  assert.equal(reply.id, 1);
  assert.ok(reply.result.serverInfo.name);
});

test('page: the addresses and headers of the snippets for MCP hosts lead to the server', async () => {
  for (const name of ['VS Code (MCP)', 'Cursor']) {
    const { servers, mcpServers } = JSON.parse(shown(name));
    const { url, headers } = (servers ?? mcpServers).rkllm;
    const response = await fetch(url, { method: 'POST', body: JSON.stringify(kInitialize),
      headers: { ...headers, 'Content-Type': 'application/json', Accept: 'application/json, text/event-stream' } });
    assert.equal(response.status, 200, name);
    assert.match(await response.text(), /serverInfo/);
  }
});

test('page: the addresses that people enter by hand are those of the interfaces that are meant', async () => {
  const address = (name) => shown(name).match(/http:\S+/)[0];
  const get = (url) => fetch(url, { headers: { Authorization: `Bearer ${kToken}` } });
  assert.equal((await (await get(`${address('Open WebUI')}/models`)).json()).object, 'list');
  assert.equal((await (await get(`${address('Continue')}/models`)).json()).object, 'list');
  for (const name of ['Home Assistant', 'VS Code (chat)']) {
    assert.ok((await (await get(`${address(name)}/api/tags`)).json()).models.length > 0, name);
  }
});
