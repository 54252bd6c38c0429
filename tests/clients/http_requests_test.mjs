// Requests over HTTP that no official client sends: headers that lie, batches, and what is none at all.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';

import { call, connect } from './support/connect.mjs';
import { Exchange, post_stateless, RawSession, stateless_meta, stateless_request } from './support/raw_http.mjs';
import { Server } from './support/server.mjs';

const kHandles = 'rkllm://handles';

let server;
let url;
before(async () => {
  server = await Server.start();
  url = `http://127.0.0.1:${server.port('http')}/mcp`;
});
after(() => server.stop());

describe('a request of the stateless era', () => {
  const error_of = async (request) => {
    const answer = await post_stateless(url, request);
    const { error } = await answer.json();
    return { status: answer.status, code: error?.code, data: error?.data };
  };
  const tool = () => stateless_request('tools/call', { name: 'rkllm_createDefaultParam', arguments: {} });

  test('whose headers agree with it is served', async () => {
    const with_headers = (more) => {
      const request = tool();
      return { ...request, headers: { ...request.headers, ...more } };
    };
    for (const more of [
      {}, { 'Mcp-Name': '  rkllm_createDefaultParam\t' }, { 'Mcp-Param-Unknown': 'x' },
      { 'Mcp-Name': `=?base64?${btoa('rkllm_createDefaultParam')}?=` }, { 'Mcp-Session-Id': 'nonsense' },
      { 'Last-Event-ID': '1-1' }, { 'Content-Type': 'application/json; charset=utf-8' },
    ]) {
      const answer = await post_stateless(url, with_headers(more));
      assert.equal(answer.status, 200, JSON.stringify(more));
      assert.equal(answer.headers.get('mcp-session-id'), null);
      assert.equal((await answer.json()).result.resultType, 'complete');
    }
  });

  const kMismatches = {
    'Mcp-Method': [undefined, 'tools/list', 'TOOLS/CALL', ''],
    'Mcp-Name': [undefined, 'rkllm_init', 'RKLLM_CREATEDEFAULTPARAM', '=?base64?***?=',
      `=?base64?${btoa('rkllm_init')}?=`, `=?BASE64?${btoa('rkllm_createDefaultParam')}?=`],
    'MCP-Protocol-Version': [undefined, '2025-11-25', '2030-01-01'],
  };
  for (const [header, values] of Object.entries(kMismatches)) {
    for (const value of values) {
      test(`with ${header} ${value === undefined ? 'left out' : JSON.stringify(value)} is refused`, async () => {
        const { headers, message } = tool();
        if (value === undefined) delete headers[header];
        else headers[header] = value;
        const { status, code, data } = await error_of({ headers, message });
        assert.deepEqual({ status, code }, { status: 400, code: -32020 });
        assert.equal(data.header, header);
      });
    }
  }

  test('needs Mcp-Name also for prompts and resources', async () => {
    for (const [method, params] of [['prompts/get', { name: 'chat', arguments: { message: 'x' } }],
      ['resources/read', { uri: 'rkllm://runtime' }]]) {
      const request = stateless_request(method, params);
      assert.equal((await post_stateless(url, request)).status, 200);
      request.headers['Mcp-Name'] = 'other';
      assert.equal((await error_of(request)).code, -32020);
      delete request.headers['Mcp-Name'];
      assert.equal((await error_of(request)).code, -32020);
    }
  });

  test('in a revision that is not served is told which are', async () => {
    const { headers, message } = tool();
    headers['MCP-Protocol-Version'] = '2030-01-01';
    message.params._meta = stateless_meta({}, '2030-01-01');
    assert.deepEqual(await error_of({ headers, message }),
      { status: 400, code: -32022, data: { supported: ['2026-07-28'], requested: '2030-01-01' } });
  });

  test('that leaves out what its era demands is refused', async () => {
    const { headers, message } = tool();
    delete message.params._meta['io.modelcontextprotocol/clientCapabilities'];
    const { status, code } = await error_of({ headers, message });
    assert.deepEqual({ status, code }, { status: 400, code: -32602 });
    delete message.params._meta;
    const bare = await error_of({ headers, message });
    assert.deepEqual({ status: bare.status, code: bare.code }, { status: 400, code: -32602 });
  });

  test('for a method that its era has not is a 404', async () => {
    const removed = ['initialize', 'ping', 'logging/setLevel', 'resources/subscribe', 'tasks/list', 'tasks/result'];
    for (const method of [...removed, 'tools/sing']) {
      const { status, code } = await error_of(stateless_request(method, {}));
      assert.deepEqual({ method, status, code }, { method, status: 404, code: -32601 });
    }
  });

  test('with parameters that are wrong is answered in the usual way', async () => {
    const wrong = {
      'tools/call': { name: 'rkllm_rum', arguments: {} }, 'tools/list': { cursor: 'x' },
      'prompts/get': { name: 'sing' }, 'resources/read': { uri: 'rkllm://nothing' },
    };
    for (const [method, params] of Object.entries(wrong)) {
      const { status, code } = await error_of(stateless_request(method, params));
      assert.deepEqual({ method, status, code }, { method, status: 200, code: -32602 });
    }
  });

  test('may be one to listen, whose stream ends with the server', async () => {
    const ending = await Server.start();
    const own_url = `http://127.0.0.1:${ending.port('http')}/mcp`;
    const notifications = { resourceSubscriptions: [kHandles], toolsListChanged: true };
    const stream = await post_stateless(own_url, stateless_request('subscriptions/listen', { notifications }, 'l1'));
    const events = stream.events();
    const next = async () => (await events.next()).value?.message;
    const _meta = { 'io.modelcontextprotocol/subscriptionId': 'l1' };
    assert.deepEqual(await next(),
      { jsonrpc: '2.0', method: 'notifications/subscriptions/acknowledged', params: { notifications, _meta } });
    const { client } = await connect(ending, 'tcp');
    await call(client, 'rkllm_init', { param: { model_path: ending.place.model.fast } });
    assert.deepEqual(await next(),
      { jsonrpc: '2.0', method: 'notifications/resources/updated', params: { uri: kHandles, _meta } });
    await client.close();
    await ending.stop();
    const { id, result } = await next();
    assert.equal(id, 'l1');
    assert.equal(result.resultType, 'complete');
    assert.equal(result._meta['io.modelcontextprotocol/subscriptionId'], 'l1');
    assert.equal((await events.next()).done, true);
  });
});

describe('a batch', () => {
  const ping = (id) => ({ jsonrpc: '2.0', id, method: 'ping' });
  const note = { jsonrpc: '2.0', method: 'notifications/initialized' };

  // The responses, whether they come as one array or as events.
  async function responses_of(exchange) {
    assert.equal(exchange.status, 200);
    if (!exchange.is_stream) return exchange.json();
    return (await exchange.all_events()).flatMap(({ message }) => message);
  }

  test('is answered request by request in 2025-03-26', async () => {
    const session = await RawSession.open(url, '2025-03-26');
    const batch = [ping(1), note, ping('two'), { ...ping(3), method: 'sing' }];
    const responses = await responses_of(await session.post(batch));
    assert.deepEqual(new Set(responses.map(({ id }) => id)), new Set([1, 'two', 3]));
    assert.equal(responses.find(({ id }) => id === 3).error.code, -32601);
    assert.equal((await session.post([note, note])).status, 202);
    await session.delete();
  });

  test('is refused in every other revision', async () => {
    for (const revision of ['2025-06-18', '2025-11-25']) {
      const session = await RawSession.open(url, revision);
      const answer = await session.post([ping(1)]);
      assert.equal(answer.status, 400);
      assert.equal((await answer.json()).error.code, -32600);
      await session.delete();
    }
    const { headers, message } = stateless_request('tools/list');
    const answer = await post_stateless(url, { headers, message: [message] });
    assert.equal(answer.status, 400);
    assert.equal((await answer.json()).error.code, -32600);
  });

  test('shakes no hands', async () => {
    const params = { protocolVersion: '2025-03-26', capabilities: {}, clientInfo: { name: 'raw', version: '1' } };
    const session = new RawSession(url, '2025-03-26');
    const answer = await session.post([{ jsonrpc: '2.0', id: 1, method: 'initialize', params }]);
    assert.equal(answer.headers.get('mcp-session-id'), null);
    const [{ error }] = [await answer.json()].flat();
    assert.equal(error.code, -32600);
  });
});

describe('a request that is none', () => {
  const refused = async (init) => {
    const answer = await Exchange.open(url, { method: 'POST', body: '{"jsonrpc":"2.0","id":1,"method":"ping"}', ...init,
      headers: { 'Content-Type': 'application/json', ...init.headers } });
    return { status: answer.status, code: (await answer.json().catch(() => ({}))).error?.code };
  };

  test('is refused with its HTTP status', async () => {
    assert.deepEqual(await refused({ body: '{' }), { status: 400, code: -32700 });
    assert.deepEqual(await refused({ body: '{"id":1}' }), { status: 400, code: -32600 });
    assert.equal((await refused({ headers: { 'Content-Type': 'text/plain' } })).status, 415);
    assert.equal((await refused({ headers: { 'MCP-Protocol-Version': '1999-12-31' } })).status, 400);
    assert.equal((await refused({ headers: { 'Mcp-Session-Id': 'never-was' } })).status, 404);
    assert.equal((await refused({ headers: { Origin: 'http://evil.example' } })).status, 403);
    const put = await Exchange.open(url, { method: 'PUT', body: '{}' });
    assert.equal(put.status, 405);
    assert.equal(put.headers.get('allow'), 'POST, GET, DELETE');
  });
});
