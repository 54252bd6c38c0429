// What the list of tools costs a language model that reads it before it can call anything: in tokens of o200k_base, as
// the result of tools/list is sent, for every version of the runtime.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { encode } from 'gpt-tokenizer/encoding/o200k_base';

import { connect } from './support/connect.mjs';
import { kVersions, Server } from './support/server.mjs';

const kMost = 6000; // of the functions
const kMostOfChat = 1500; // of the chat set
const kMostOfAll = 8000; // of all that is listed by default
const kMostOfOne = 5000; // bytes of a schema that Codex keeps whole

for (const version of kVersions) {
  test(`the tools of ${version}`, async (t) => {
    const server = await Server.start({}, version);
    t.after(() => server.stop());
    const { client, received } = await connect(server, 'tcp');
    const page = await client.listTools();
    assert.equal(page.nextCursor, undefined);
    const { result } = received.find(({ result: each }) => each?.tools);
    const functions = result.tools.filter((tool) => tool.name.startsWith('rkllm_'));
    const tokens = encode(JSON.stringify({ tools: functions })).length;
    const all = encode(JSON.stringify(result)).length;
    t.diagnostic(`${tokens} tokens, ${functions.length} functions; ${all} tokens, ${result.tools.length} tools`);
    assert.ok(tokens < kMost, `${tokens} tokens`);
    assert.ok(all < kMostOfAll, `${all} tokens`);
    for (const { name, inputSchema } of result.tools) {
      const bytes = Buffer.byteLength(JSON.stringify(inputSchema));
      assert.ok(bytes <= kMostOfOne, `${name}: ${bytes} bytes`);
    }
    await client.close();
  });
}

test('the chat set alone', async (t) => {
  const server = await Server.start({ 'mcp.tools': '["chat"]' });
  t.after(() => server.stop());
  const { client, received } = await connect(server, 'tcp');
  await client.listTools();
  const { result } = received.find(({ result: each }) => each?.tools);
  assert.deepEqual(result.tools.map(({ name }) => name),
    ['list_models', 'load_model', 'chat', 'embed', 'stop', 'status', 'unload_model']);
  const tokens = encode(JSON.stringify(result)).length;
  t.diagnostic(`${tokens} tokens`);
  assert.ok(tokens < kMostOfChat, `${tokens} tokens`);
  await client.close();
});
