// What the web page shows to be pasted into other programs, pasted: those of its snippets that need nothing but curl, Node.js
// and this program, and those that name an address and headers. Snippets in Python are not run.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
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
let kinds; // the snippets, as functions
let shown; // the text of a snippet, with the access token in its place
before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'rkllm-mcp-tokens-'));
  const tokens = join(folder, 'tokens');
  await writeFile(tokens, `page ${kToken} call,admin\n`, { mode: 0o600 });
  board = await Board.start({ 'auth.tokens': tokens });
  const { kSnippets } = await import(pathToFileURL(process.env.PAGE_SNIPPETS));
  kinds = kSnippets;
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
  child.stdin.on('error', () => {}); // a program may end without reading it
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

// A hub's file may be called anything.
const kOddNames = ['a;touch gone', "it's-$(touch gone)", '"q" \\ `touch gone`'];

test('page: a name of a model is a word of a shell whatever it holds', async () => {
  const folder_of_shell = await mkdtemp(join(tmpdir(), 'rkllm-mcp-pasted-'));
  // What is called prints its arguments and the model of its environment.
  await writeFile(join(folder_of_shell, 'said'), '#!/bin/sh\nprintf "%s\\n" "$ANTHROPIC_MODEL" "$@"\n', { mode: 0o700 });
  for (const model of kOddNames) {
    const said = async (name) => {
      const text = kinds[name]({ at: board.url, model }).replace(/^curl /, './said ').replace(/claude$/, './said');
      return run('sh', ['-c', `cd '${folder_of_shell}' && ${text}`]);
    };
    const body = (await said('curl')).trimEnd().split('\n').at(-1);
    assert.equal(JSON.parse(body).model, model);
    assert.equal((await said('Claude Code (model)')).trimEnd(), model);
  }
  assert.deepEqual(await readdir(folder_of_shell), ['said']);
  await rm(folder_of_shell, { recursive: true });
});

test('page: a name of a model is one text in programs and settings whatever it holds', () => {
  for (const model of kOddNames) {
    const text_of = (name) => kinds[name]({ at: board.url, model });
    // Texts in double quotes, as JSON has them, are the same in Python, JavaScript, TOML and YAML.
    for (const [name, before] of [['openai (Python)', 'model='], ['openai (Node)', 'model: '], ['anthropic (Python)', 'model='],
      ['ollama (Python)', 'model='], ['LangChain', 'model='], ['Continue', 'model: '], ['Codex', 'model = ']]) {
      assert.ok(text_of(name).includes(before + JSON.stringify(model)), name);
    }
    assert.equal(JSON.parse(text_of('Zed').replace(/^\/\/.*\n/, '')).language_models.openai_compatible.Board.available_models[0].name, model);
    assert.ok(model in JSON.parse(text_of('opencode')).provider.board.models);
  }
});

test('page: every snippet has a place for the access token', () => {
  for (const name of Object.keys(kinds)) {
    // Codex takes it from a variable of the environment.
    assert.match(kinds[name]({ at: board.url, model: kModel }), name === 'Codex' ? /RKLLM_MCP_TOKEN/ : /ACCESS_TOKEN/, name);
  }
});
