// How `rkllm-mcp stdio` ends: with the input of an MCP host, within a second, with exit code 0; a host of the direct
// dialect is answered first, as long as it reads.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { after, before, test } from 'node:test';

import { call, connect, kClients } from './support/connect.mjs';
import { at_best } from './support/eventually.mjs';
import { ended, kProgram, make_workplace } from './support/server.mjs';

// What a second is: longer for a program that was built with sanitizers.
const kSecond = 1000;

let place;
before(async () => {
  place = await make_workplace();
});
after(() => place.remove());

function start() {
  const args = ['stdio', '--simulator', '--settings', place.settings, '--log-level', 'error'];
  const child = spawn(kProgram, args, { cwd: place.directory, stdio: ['pipe', 'pipe', 'ignore'] });
  child.say = (id, method, params = {}) =>
    child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`);
  child.lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  child.hear = async () => JSON.parse((await child.lines.next()).value);
  return child;
}

// Ends the input and gives the time that the process then takes to end, in ms.
async function end_input(child) {
  const started = performance.now();
  child.stdin.end();
  assert.deepEqual(await ended(child), { code: 0, signal: null });
  return performance.now() - started;
}

// A test of what ends within a second, of which `measure` gives the time.
function ends_in_time(name, measure) {
  test(name, async () => {
    const took = await at_best(kSecond, measure);
    assert.ok(took < kSecond, `it took ${took} ms`);
  });
}

ends_in_time('an idle server ends with its input', async () => {
  const child = start();
  child.say(1, 'ping');
  assert.deepEqual(await child.hear(), { jsonrpc: '2.0', id: 1, result: {} });
  return end_input(child);
});

ends_in_time('a server that never heard a word ends with its input', () => end_input(start()));

ends_in_time('what was asked before the end is answered', async () => {
  const child = start();
  child.say(1, 'rkllm_init', { param: { model_path: place.model.fast } });
  assert.equal((await child.hear()).result.handle, 'llm-1');
  child.say(2, 'rkllm_run', { rkllm_input: { prompt_input: '@n=50' } });
  const took = await end_input(child);
  const { id, result } = await child.hear();
  assert.equal(id, 2);
  assert.equal(result.aborted, undefined);
  assert.equal((await child.lines.next()).done, true);
  return took;
});

for (const method of ['rkllm_run', 'rkllm_run_async']) {
  ends_in_time(`${method} in full swing does not keep the server alive`, async () => {
    const child = start();
    child.say(1, 'rkllm_init', { param: { model_path: place.model.paced } });
    assert.equal((await child.hear()).result.handle, 'llm-1');
    child.say(2, 'tools/call', {
      name: method,
      arguments: { rkllm_input: { prompt_input: '@n=100000' } },
      _meta: { progressToken: 'p' },
    });
    assert.equal((await child.hear()).method, 'notifications/progress');
    return end_input(child);
  });
}

ends_in_time('a direct stream in full swing does not keep the server alive when nobody reads it', async () => {
  const child = start();
  child.say(1, 'rkllm_init', { param: { model_path: place.model.paced } });
  assert.equal((await child.hear()).result.handle, 'llm-1');
  child.say(2, 'rkllm_run_async', { rkllm_input: { prompt_input: '@n=100000' } });
  assert.equal((await child.hear()).result.chunk.seq, 0);
  child.stdout.destroy();
  return end_input(child);
});

for (const name of kClients) {
  ends_in_time(`the close() of ${name} needs no signal, also in the middle of a run`, async () => {
    const { client } = await connect({ place }, 'stdio', { client: name });
    const { handle } = await call(client, 'rkllm_init', { param: { model_path: place.model.paced } });
    let closed;
    const running = call(client, 'rkllm_run', { handle, rkllm_input: { prompt_input: '@n=100000' } }, {
      onprogress: () => {
        closed ??= client.close();
      },
    });
    assert.equal((await running).aborted, true); // the server answers what it can before it goes
    const started = performance.now();
    await closed;
    return performance.now() - started;
  });
}
