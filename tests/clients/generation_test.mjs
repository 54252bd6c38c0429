// Text on its way: progress while a tool generates, and the end of a call that its client no longer wants.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';

import { call, connect, describe_all, kClients, kHandshakeClients } from './support/connect.mjs';
import { eventually } from './support/eventually.mjs';
import { Server } from './support/server.mjs';

const kEndless = 100_000; // tokens, which nobody waits for: whoever has seen enough stops the run
const kEnough = 6; // updates, besides the first
const kAtOnce = 8; // generations mostly wait

let server;
before(async () => {
  server = await Server.start();
});
after(() => server.stop());

const prompt = (tokens) => ({ rkllm_input: { prompt_input: `@n=${tokens} Tell me a story.` } });

function assert_increasing(notes) {
  notes.reduce((last, { progress }) => {
    assert.ok(progress > last, `${progress} comes after ${last}`);
    return progress;
  }, -1);
}

describe_all((client_name, kind) => {
  let client;
  let received;
  let handle;
  before(async () => {
    ({ client, received } = await connect(server, kind, { client: client_name }));
    ({ handle } = await call(client, 'rkllm_init', { param: { model_path: server.place.model.paced } }));
  });
  after(async () => {
    await call(client, 'rkllm_destroy', { handle });
    await client.close();
  });

  // Generates until there have been `enough` updates: {text, notes, wire}. `notes` is what the SDK hands to its user,
  // `wire` what the server sent: the SDK drops notifications that it reads together with the result.
  async function generate(tool, args, enough = kEnough) {
    const notes = [];
    let stopped;
    const start = received.length;
    const structured = await call(client, tool, { handle, ...prompt(kEndless), ...args }, {
      onprogress(note) {
        notes.push(note);
        if (notes.length > enough) stopped ??= call(client, 'rkllm_abort', { handle });
      },
    });
    await stopped;
    const is_of_run = ({ result }) => result === undefined || 'text' in result.structuredContent;
    const messages = received.slice(start).filter(is_of_run);
    const answers = messages.filter((message) => 'result' in message);
    const wire = messages.filter((message) => message.method === 'notifications/progress');
    assert.equal(answers.length, 1);
    assert.equal(messages.at(-1), answers[0], 'nothing comes after the answer');
    assert.equal(new Set(wire.map(({ params }) => params.progressToken)).size, 1);
    return { text: structured.text, notes, wire: wire.map(({ params }) => params) };
  }

  for (const tool of ['rkllm_run', 'rkllm_run_async']) {
    test(`${tool}: deltas arrive while it runs and join to the answer`, async () => {
      const { text, notes, wire } = await generate(tool, { progress_message: 'delta' });
      assert.ok(text.length > 0);
      assert_increasing(wire);
      assert_increasing(notes);
      const join = (all) => all.slice(1).map(({ message }) => message ?? '').join('');
      assert.equal(join(wire), text);
      assert.ok(text.startsWith(join(notes)), 'the SDK lost none but the last');
    });
  }

  test('"text" repeats all so far', async () => {
    const { text, wire } = await generate('rkllm_run', { progress_message: 'text' });
    assert_increasing(wire);
    const texts = wire.slice(1).map(({ message }) => message);
    for (let at = 1; at < texts.length; ++at) assert.ok(texts[at].startsWith(texts[at - 1]));
    assert.equal(texts.at(-1), text);
  });

  test('"status", the default, counts tokens at most five times a second', async () => {
    const started = performance.now();
    const { wire } = await generate('rkllm_run', {}, 2);
    const seconds = (performance.now() - started) / 1000;
    assert_increasing(wire);
    assert.equal(wire[0].message, 'started');
    assert.ok(wire.length <= 1 + 5 * seconds, `${wire.length} in ${seconds} s`);
    for (const { message } of wire.slice(1)) assert.match(message, /^\d+ tokens, \d+ tok\/s$/);
  });

  test('without onprogress there is no progress', async () => {
    const start = received.length;
    await call(client, 'rkllm_run', { handle, ...prompt(5) });
    assert.deepEqual(received.slice(start).filter((message) => 'method' in message), []);
  });

  test('an aborted call stops its run and is never answered', async () => {
    const start = received.length;
    const abort = new AbortController();
    const started = performance.now();
    const running = client.callTool(
      { name: 'rkllm_run', arguments: { handle, ...prompt(kEndless), progress_message: 'delta' } },
      { signal: abort.signal, onprogress: ({ progress }) => progress >= 3 && abort.abort('enough') });
    await assert.rejects(running, /enough/);
    const token = received[start].params.progressToken;

    // This call waits behind the run in the queue of the handle: its answer says that the run is over.
    await call(client, 'rkllm_get_kv_cache_size', { handle });
    const silence = received.length;
    assert.equal((await call(client, 'rkllm_is_running', { handle })).running, false);
    assert.ok(performance.now() - started < 60_000, 'the run ended long before its 100,000 tokens');
    assert.equal((await call(client, 'rkllm_run', { handle, ...prompt(3) })).text.length > 0, true);

    const answers = received.slice(start).filter((message) => 'result' in message || 'error' in message);
    assert.equal(answers.length, 3, 'the aborted call has no answer');
    const late = received.slice(silence).filter((message) => message.params?.progressToken === token);
    assert.deepEqual(late, []);
  });

  // A datagram client cannot be seen to leave, and the process on stdio leaves with its client (stdio_end_test.mjs). A
  // client in an HTTP session may come back for its answer.
  if (['udp', 'stdio'].includes(kind)) return;
  const outlives = kind === 'http' && kHandshakeClients.includes(client_name);
  test(`a run ${outlives ? 'goes on' : 'stops'} when its client closes in the middle of it`, async () => {
    const { client: leaving } = await connect(server, kind, { client: client_name });
    const running = leaving.callTool({ name: 'rkllm_run', arguments: { handle, ...prompt(kEndless) } },
      { onprogress: () => {} });
    running.catch(() => {});
    const is_running = async () => (await call(client, 'rkllm_is_running', { handle })).running;
    await eventually(is_running);
    await leaving.close();
    await assert.rejects(running);
    if (outlives) {
      assert.equal(await is_running(), true);
      await call(client, 'rkllm_abort', { handle });
    }
    await eventually(async () => !(await is_running()));
  });
}, kClients, kAtOnce);
