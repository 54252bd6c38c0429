// `rkllm-mcp connect`, started by the official SDK's stdio client as a host starts any command, in front of a server
// that is reached over each of its transports.
import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';

import { call, list_tools } from './support/connect.mjs';
import { kProgram, Server } from './support/server.mjs';

const kSecond = 1000 * Number(process.env.TIME_FACTOR ?? 1);

const kUrls = {
  tcp: (server) => `tcp://127.0.0.1:${server.port('tcp')}`,
  unix: (_, socket) => `unix://${socket}`,
  udp: (server) => `udp://127.0.0.1:${server.port('udp')}`,
  http: (server) => `http://127.0.0.1:${server.port('http')}/mcp`,
  ws: (server) => `ws://127.0.0.1:${server.port('ws')}`,
  'ws on the HTTP port': (server) => `ws://127.0.0.1:${server.port('http')}/ws`,
};

// {client, transport, received, closed}: `received` collects every message as it came, `closed` resolves with the end.
async function bridge(url) {
  const transport = new StdioClientTransport({ command: kProgram, args: ['connect', url], stderr: 'ignore' });
  const received = [];
  transport.onmessage = (message) => received.push(message);
  const client = new Client({ name: 'rkllm-mcp connect test', version: '1' });
  const closed = new Promise((resolve) => {
    client.onclose = resolve;
  });
  await client.connect(transport);
  return { client, transport, received, closed };
}

const prompt = (tokens) => ({ rkllm_input: { prompt_input: `@n=${tokens} Tell me a story.` } });

let server;
let directory;
let socket;
before(async () => {
  directory = await mkdtemp(join(tmpdir(), 'rkllm-mcp-connect-'));
  socket = join(directory, 'socket');
  server = await Server.start({ 'unix.path': socket });
});
after(async () => {
  await server.stop();
  await rm(directory, { recursive: true, force: true });
});

for (const [kind, url_of] of Object.entries(kUrls)) {
  describe(`over ${kind}`, () => {
    test('the handshake, every page of the lists, and a refusal pass through', async () => {
      const { client } = await bridge(url_of(server, socket));
      assert.equal(client.getServerVersion().name, 'rkllm-server');
      assert.deepEqual(await client.ping(), {});
      const { tools } = await list_tools(client);
      assert.equal(tools.filter((tool) => tool.name.startsWith('rkllm_')).length, 15);
      assert.ok((await client.listResources()).resources.length > 0);
      await assert.rejects(client.callTool({ name: 'rkllm_rum', arguments: {} }), { message: /rkllm_rum/ });
      await client.close();
    });

    test('progress comes while a tool runs, and an aborted call ends its run and is never answered', async () => {
      const { client, received } = await bridge(url_of(server, socket));
      const { handle } = await call(client, 'rkllm_init', { param: { model_path: server.place.model.paced } });
      const notes = [];
      const { text } = await call(client, 'rkllm_run', { handle, ...prompt(60), progress_message: 'delta' },
        { onprogress: (note) => notes.push(note) });
      assert.ok(notes.length > 5, `${notes.length} updates for 60 tokens`);
      assert.ok(text.startsWith(notes.slice(1).map(({ message }) => message ?? '').join('').slice(0, 5)));

      const start = received.length;
      const abort = new AbortController();
      const running = client.callTool(
        { name: 'rkllm_run', arguments: { handle, ...prompt(100_000), progress_message: 'delta' } }, undefined,
        { signal: abort.signal, onprogress: ({ progress }) => progress >= 3 && abort.abort('enough') });
      await assert.rejects(running, /enough/);
      await call(client, 'rkllm_get_kv_cache_size', { handle }); // waits behind the run
      assert.equal((await call(client, 'rkllm_is_running', { handle })).running, false);
      const answers = received.slice(start).filter((message) => 'result' in message || 'error' in message);
      assert.equal(answers.length, 2, 'the aborted call has no answer');
      await call(client, 'rkllm_destroy', { handle });
      await client.close();
    });

    test('many calls at once are all answered', async () => {
      const { client } = await bridge(url_of(server, socket));
      const names = await Promise.all(Array.from({ length: 40 }, () => call(client, 'rkllm_createDefaultParam')));
      assert.equal(names.length, 40);
      await client.close();
    });

    test('the command ends with its input, within a second', async () => {
      const { client, transport, closed } = await bridge(url_of(server, socket));
      const { pid } = transport;
      const began = performance.now();
      await client.close();
      await closed;
      assert.ok(performance.now() - began < kSecond, 'the SDK had to wait');
      assert.throws(() => process.kill(pid, 0), { code: 'ESRCH' });
    });

    test('a server that dies leaves an error, not silence', async () => {
      const own_socket = join(directory, `socket-of-the-mortal-${Object.keys(kUrls).indexOf(kind)}`);
      const mortal = await Server.start({ 'unix.path': own_socket });
      const { client, closed } = await bridge(url_of(mortal, own_socket));
      const { handle } = await call(client, 'rkllm_init', { param: { model_path: mortal.place.model.paced } });
      const running = client.callTool({ name: 'rkllm_run', arguments: { handle, ...prompt(100_000) } }, undefined,
        { onprogress: () => mortal.child.kill('SIGKILL') });
      await assert.rejects(running, ({ code, data }) => code === -32603 && data.url === url_of(mortal, own_socket));
      await closed;
      await mortal.place.remove();
    });
  });
}
