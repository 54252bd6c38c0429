// From the handshake to the farewell, over every transport: the official SDK's client.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { ErrorCode, SUPPORTED_PROTOCOL_VERSIONS } from '@modelcontextprotocol/sdk/types.js';

import { connect, kTransports, list_tools } from './support/connect.mjs';
import { Server } from './support/server.mjs';

const kTools = [
  'rkllm_createDefaultParam', 'rkllm_init', 'rkllm_load_lora', 'rkllm_load_prompt_cache',
  'rkllm_release_prompt_cache', 'rkllm_destroy', 'rkllm_run', 'rkllm_run_async', 'rkllm_abort', 'rkllm_is_running',
  'rkllm_clear_kv_cache', 'rkllm_get_kv_cache_size', 'rkllm_set_chat_template', 'rkllm_set_function_tools',
  'rkllm_set_cross_attn_params',
]; // in the order of the header

const kDatagramBytes = 65_507;

let server;
before(async () => {
  server = await Server.start();
});
after(() => server.stop());

for (const kind of kTransports) {
  describe(`over ${kind}`, () => {
    for (const revision of SUPPORTED_PROTOCOL_VERSIONS) {
      test(`revision ${revision} is agreed on`, async () => {
        const { client, received } = await connect(server, kind, { revision });
        assert.equal(received[0].result.protocolVersion, revision);
        assert.deepEqual(await client.ping(), {});
        await client.close();
      });
    }

    test('an unknown revision is answered with the newest of the handshake era', async () => {
      const { client, received } = await connect(server, kind, { revision: '1999-12-31' });
      assert.equal(received[0].result.protocolVersion, '2025-11-25');
      await client.close();
    });

    test('the server says who it is, and that it is simulated', async () => {
      const { client } = await connect(server, kind);
      assert.equal(client.getServerVersion().name, 'rkllm-server');
      assert.match(client.getServerVersion().title, /SIMULATED/);
      assert.match(client.getInstructions(), /rkllm_init/);
      assert.deepEqual(client.getServerCapabilities(), {
        tools: { listChanged: true }, resources: { subscribe: true, listChanged: true }, prompts: { listChanged: true },
        completions: {}, logging: {},
      });
      await client.close();
    });

    test('all 15 functions are tools, in the order of the header', async () => {
      const { client } = await connect(server, kind);
      const { tools } = await list_tools(client);
      assert.deepEqual(tools.map((tool) => tool.name), kTools);
      for (const tool of tools) {
        assert.ok(tool.title && tool.description, `${tool.name} has a title and a description`);
        assert.equal(tool.inputSchema.type, 'object');
        assert.equal(tool.outputSchema.type, 'object');
      }
      await client.close();
    });

    test('the resource rkllm://api describes all 15 functions', async () => {
      const { client } = await connect(server, kind);
      const { resources } = await client.listResources();
      const api = resources.find((resource) => resource.uri === 'rkllm://api');
      assert.equal(api.mimeType, 'application/json');
      const { resourceTemplates } = await client.listResourceTemplates();
      assert.deepEqual(resourceTemplates.map((each) => each.uriTemplate), [
        'rkllm://api/functions/{name}', 'rkllm://api/structs/{name}', 'rkllm://api/enums/{name}',
        'rkllm://api/constants/{name}', 'rkllm://handles/{id}',
      ]);
      const reading = client.readResource({ uri: 'rkllm://api' });
      if (kind === 'udp') {
        assert.ok(api.size + 1000 > kDatagramBytes); // escaped it is even longer
        await assert.rejects(reading, { code: 4006, message: /ask over tcp/ });
      } else {
        const { contents } = await reading;
        assert.equal(Buffer.byteLength(contents[0].text), api.size);
        const functions = JSON.parse(contents[0].text).functions;
        assert.deepEqual(functions.map((each) => each.name), kTools);
      }
      await client.close();
    });

    test('what does not exist is refused by name', async () => {
      const { client } = await connect(server, kind);
      await assert.rejects(client.callTool({ name: 'rkllm_rum', arguments: {} }),
        { code: ErrorCode.InvalidParams, message: /rkllm_rum/ });
      await assert.rejects(client.readResource({ uri: 'rkllm://nothing' }),
        { code: ErrorCode.InvalidParams, message: /rkllm:\/\/nothing/, data: { uri: 'rkllm://nothing' } });
      await assert.rejects(client.listTools({ cursor: 'yesterday' }),
        { code: ErrorCode.InvalidParams, message: /params\.cursor/ });
      await assert.rejects(client.callTool({ name: 'rkllm_init', arguments: [] }), { code: ErrorCode.InvalidParams });
      assert.deepEqual(await client.ping(), {});
      await client.close();
    });
  });
}

test('an HTTP session ends with DELETE and is then unknown', async () => {
  const { client, transport } = await connect(server, 'http');
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
});
