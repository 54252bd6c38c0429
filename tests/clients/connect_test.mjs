// `rkllm-mcp connect`, started by the official SDK's stdio clients as a host starts any command, in front of a server
// that is reached over each of its transports.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';

import { call, connect_by, kClients, list_tools } from './support/connect.mjs';
import { at_best } from './support/eventually.mjs';
import { kProgram, Server } from './support/server.mjs';

const kSecond = 1000;

const kAtOnce = 3;

const kUrls = {
  tcp: (server) => `tcp://127.0.0.1:${server.port('tcp')}`,
  unix: (server) => `unix://${server.unix_path}`,
  udp: (server) => `udp://127.0.0.1:${server.port('udp')}`,
  http: (server) => `http://127.0.0.1:${server.port('http')}/mcp`,
  ws: (server) => `ws://127.0.0.1:${server.port('ws')}`,
  'ws on the HTTP port': (server) => `ws://127.0.0.1:${server.port('http')}/ws`,
};

// As connect(), with `closed`, which resolves with the end.
async function bridge(url, name = 'v1') {
  const connected = await connect_by(name, ({ StdioClientTransport }) =>
    new StdioClientTransport({ command: kProgram, args: ['connect', url], stderr: 'ignore' }));
  const closed = new Promise((resolve) => {
    connected.client.onclose = resolve;
  });
  return { ...connected, closed };
}

const prompt = (tokens) => ({ rkllm_input: { prompt_input: `@n=${tokens} Tell me a story.` } });

let server;
before(async () => {
  server = await Server.start();
});
after(() => server.stop());

describe('rkllm-mcp connect', { concurrency: kAtOnce }, () => {
  for (const [kind, url_of] of Object.entries(kUrls)) {
    describe(`over ${kind}`, { concurrency: 1 }, () => {
      for (const name of kClients) {
        test(`${name}: the handshake or discovery, every page of the lists, and a refusal pass through`, async () => {
          const { client } = await bridge(url_of(server), name);
          assert.equal(client.getServerVersion().name, 'rkllm-server');
          await client.knock();
          const tools = await list_tools(client);
          assert.equal(tools.filter((tool) => tool.name.startsWith('rkllm_')).length, 14);
          assert.ok((await client.listResources()).resources.length > 0);
          await assert.rejects(client.callTool({ name: 'rkllm_rum', arguments: {} }), { message: /rkllm_rum/ });
          await client.close();
        });

        test(`${name}: progress comes while a tool runs; an aborted call ends its run and is never answered`, async () => {
          const { client, received } = await bridge(url_of(server), name);
          const { handle } = await call(client, 'rkllm_init', { param: { model_path: server.place.model.paced } });
          const notes = [];
          let stopped;
          const { text } = await call(client, 'rkllm_run', { handle, ...prompt(100_000), progress_message: 'delta' }, {
            onprogress(note) {
              notes.push(note);
              if (notes.length > 5) stopped ??= call(client, 'rkllm_abort', { handle });
            },
          });
          await stopped;
          assert.ok(text.startsWith(notes.slice(1).map(({ message }) => message ?? '').join('').slice(0, 5)));

          const start = received.length;
          const abort = new AbortController();
          const running = client.callTool(
            { name: 'rkllm_run', arguments: { handle, ...prompt(100_000), progress_message: 'delta' } },
            { signal: abort.signal, onprogress: ({ progress }) => progress >= 3 && abort.abort('enough') });
          await assert.rejects(running, /enough/);
          await call(client, 'rkllm_get_kv_cache_size', { handle }); // waits behind the run
          assert.equal((await call(client, 'rkllm_is_running', { handle })).running, false);
          const answers = received.slice(start).filter((message) => 'result' in message || 'error' in message);
          assert.equal(answers.length, 2, 'the aborted call has no answer');
          await call(client, 'rkllm_destroy', { handle });
          await client.close();
        });
      }

      test('many calls at once are all answered', async () => {
        const { client } = await bridge(url_of(server));
        const names = await Promise.all(Array.from({ length: 40 }, () => call(client, 'rkllm_createDefaultParam')));
        assert.equal(names.length, 40);
        await client.close();
      });

      test('the command ends with its input, within a second', async () => {
        const took = await at_best(kSecond, async () => {
          const { client, transport, closed } = await bridge(url_of(server));
          const { pid } = transport;
          const began = performance.now();
          await client.close();
          await closed;
          const ended = performance.now();
          assert.throws(() => process.kill(pid, 0), { code: 'ESRCH' });
          return ended - began;
        });
        assert.ok(took < kSecond, `the SDK had to wait: ${took} ms`);
      });

      test('a server that dies leaves an error, not silence', async () => {
        const mortal = await Server.start();
        const { client, closed } = await bridge(url_of(mortal));
        const { handle } = await call(client, 'rkllm_init', { param: { model_path: mortal.place.model.paced } });
        const running = client.callTool({ name: 'rkllm_run', arguments: { handle, ...prompt(100_000) } },
          { onprogress: () => mortal.child.kill('SIGKILL') });
        await assert.rejects(running, ({ code, data }) => code === -32603 && data.url === url_of(mortal));
        await closed;
        await mortal.place.remove();
      });
    });
  }
});
