// From the handshake to the farewell, of every official client over every transport.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { ErrorCode, SUPPORTED_PROTOCOL_VERSIONS } from '@modelcontextprotocol/sdk/types.js';

import { connect, describe_all, kHandshakeClients, kStatelessClients, list_tools } from './support/connect.mjs';
import { Server } from './support/server.mjs';

const kChatSet = ['list_models', 'load_model', 'chat', 'embed', 'stop', 'status', 'unload_model'];
const kTools = [
  'rkllm_createDefaultParam', 'rkllm_init', 'rkllm_load_lora', 'rkllm_load_prompt_cache',
  'rkllm_release_prompt_cache', 'rkllm_destroy', 'rkllm_run', 'rkllm_abort', 'rkllm_is_running',
  'rkllm_clear_kv_cache', 'rkllm_get_kv_cache_size', 'rkllm_set_chat_template', 'rkllm_set_function_tools',
  'rkllm_set_cross_attn_params',
]; // in the order of the header

const kCapabilities = {
  tools: { listChanged: true }, resources: { subscribe: true, listChanged: true }, prompts: { listChanged: true },
  completions: {}, logging: {},
};

let server;
before(async () => {
  server = await Server.start();
});
after(() => server.stop());

describe_all((client_name, kind) => {
  for (const revision of SUPPORTED_PROTOCOL_VERSIONS) {
    test(`revision ${revision} is agreed on`, async () => {
      const { client, received } = await connect(server, kind, { client: client_name, revision });
      assert.equal(received[0].result.protocolVersion, revision);
      assert.deepEqual(await client.ping(), {});
      await client.close();
    });
  }

  test('an unknown revision is answered with the newest of the handshake era', async () => {
    const { client, received } = await connect(server, kind, { client: client_name, revision: '1999-12-31' });
    assert.equal(received[0].result.protocolVersion, '2025-11-25');
    await client.close();
  });

  test('the server says who it is, and that it is simulated', async () => {
    const { client } = await connect(server, kind, { client: client_name });
    assert.equal(client.getServerVersion().name, 'rkllm-server');
    assert.match(client.getServerVersion().title, /SIMULATED/);
    assert.match(client.getInstructions(), /rkllm_init/);
    assert.deepEqual(client.getServerCapabilities(), kCapabilities);
    await client.close();
  });
}, kHandshakeClients);

describe_all((client_name, kind) => {
  test('revision 2026-07-28 is found by server/discover, and no hands are shaken', async () => {
    const { client, received } = await connect(server, kind, { client: client_name });
    assert.equal(client.getNegotiatedProtocolVersion(), '2026-07-28');
    assert.ok(client.is_stateless());
    const found = await client.discover();
    assert.deepEqual(found.supportedVersions, ['2026-07-28']);
    assert.match(found.instructions, /rkllm_init/);
    assert.equal(client.getServerVersion().name, 'rkllm-server');
    assert.deepEqual(client.getServerCapabilities(),
      { ...kCapabilities, extensions: { 'io.modelcontextprotocol/tasks': {} } });
    assert.deepEqual(received.map(({ result }) => result.resultType), ['complete']);
    assert.equal(received[0].result._meta['io.modelcontextprotocol/serverInfo'].name, 'rkllm-server');
    await client.close();
  });
}, kStatelessClients);

describe_all((client_name, kind) => {
  let client;
  before(async () => {
    ({ client } = await connect(server, kind, { client: client_name }));
  });

  test('the chat set is listed first, then all functions but one run, in the order of the header', async () => {
    const tools = await list_tools(client);
    assert.deepEqual(tools.slice(0, kChatSet.length).map((tool) => tool.name), kChatSet);
    const behind = kChatSet.length + kTools.length;
    const functions = tools.slice(kChatSet.length, behind);
    assert.deepEqual(functions.map((tool) => tool.name), kTools);
    for (const tool of functions) assert.equal(tool.outputSchema.type, 'object');
    for (const tool of tools) {
      assert.ok(tool.title && tool.description, `${tool.name} has a title and a description`);
      assert.equal(tool.inputSchema.type, 'object');
    }
    // What follows belongs to the services.
    for (const tool of tools.slice(behind)) assert.doesNotMatch(tool.name, /^rkllm_/);
  });

  test('what does not exist is refused by name', async () => {
    await assert.rejects(client.callTool({ name: 'rkllm_rum', arguments: {} }),
      { code: ErrorCode.InvalidParams, message: /rkllm_rum/ });
    await assert.rejects(client.readResource({ uri: 'rkllm://nothing' }),
      { code: ErrorCode.InvalidParams, message: /rkllm:\/\/nothing/, data: { uri: 'rkllm://nothing' } });
    await assert.rejects(client.getPrompt({ name: 'sing' }), { code: ErrorCode.InvalidParams, message: /sing/ });
    for (const method of ['listTools', 'listResources', 'listResourceTemplates', 'listPrompts']) {
      await assert.rejects(client[method]({ cursor: 'yesterday' }),
        { code: ErrorCode.InvalidParams, message: /params\.cursor/ });
    }
    await assert.rejects(client.callTool({ name: 'rkllm_init', arguments: [] }), { code: ErrorCode.InvalidParams });
    await client.knock();
  });

  test('the client closes', async () => {
    await client.knock();
    const closed = new Promise((resolve) => {
      client.onclose = resolve;
    });
    await client.close();
    await closed;
    await assert.rejects(client.knock(), /[Nn]ot connected/);
  });
});

test('an HTTP session ends with DELETE and is then unknown', async () => {
  for (const name of kHandshakeClients) {
    const { client, transport } = await connect(server, 'http', { client: name });
    assert.match(transport.sessionId, /^[\x21-\x7e]{16,}$/);
    const { sessionId } = transport;
    await transport.terminateSession();
    const answer = await fetch(`http://127.0.0.1:${server.port('http')}/mcp`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', 'Mcp-Session-Id': sessionId },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping' }),
    });
    assert.equal(answer.status, 404);
    await client.close();
  }
});
