// Generations that go on after their request was answered (extension io.modelcontextprotocol/tasks): by the extension's
// own client over every transport, and by raw messages over HTTP and TCP.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { createTaskSessionFromClient, resultFromTaskOutcome } from '@modelcontextprotocol/ext-tasks/client';
import {
  CallToolResultV2Schema, isDetailedTaskV2, isTaskStatusNotificationV2, isTaskV2, isToolCallTaskResultV2,
} from '@modelcontextprotocol/ext-tasks/core/v2';

import { call, connect, describe_all, kStatelessClients } from './support/connect.mjs';
import { eventually } from './support/eventually.mjs';
import { post_stateless, stateless_meta, stateless_request } from './support/raw_http.mjs';
import { raw_requests } from './support/raw_requests.mjs';
import { Server } from './support/server.mjs';

const kExtension = 'io.modelcontextprotocol/tasks';
const kCapabilities = { extensions: { [kExtension]: {} } };
const kAtOnce = 8;

let server;
let url;
before(async () => {
  server = await Server.start();
  url = `http://127.0.0.1:${server.port('http')}/mcp`;
});
after(() => server.stop());

const story = (tokens) => ({ rkllm_input: { prompt_input: `@n=${tokens} Tell me a story.` } });
const tells_how_far = ({ type, task }) =>
  type === 'task' && task.status === 'working' && /^[1-9]\d* tokens/.test(task.statusMessage);
const load = (client) => call(client, 'rkllm_init', { param: { model_path: server.place.model.paced } });

describe_all((client_name, kind) => {
  let client;
  let session;
  let handle;
  before(async () => {
    const connected = await connect(server, kind, { client: client_name });
    client = connected.client;
    ({ handle } = await load(client));
    const request = raw_requests(connected.transport);
    session = createTaskSessionFromClient(client, {
      endpointId: `${client_name} over ${kind}`,
      rawDispatch: async (message) => {
        const { result, error } = await request(message);
        return error ? { kind: 'error', error } : { kind: 'result', result };
      },
      v2RequestFraming: {
        protocolVersion: client.getNegotiatedProtocolVersion(),
        clientInfo: { name: 'rkllm-mcp client test', version: '1' },
        clientCapabilities: {},
      },
    });
  });
  after(async () => {
    await session.close();
    await call(client, 'rkllm_destroy', { handle });
    await client.close();
  });

  for (const tool of ['rkllm_run', 'rkllm_run_async']) {
    test(`${tool} begins as a task, tells how far it is, and completes`, async () => {
      const execution = await session.callTool(tool, { handle, ...story(100_000) });
      assert.equal(execution.kind, 'task');
      const seen = [];
      let stopped;  // as soon as it has been told how far the run is, however slow this machine is
      const { outcome } = await execution.settle({
        onEvent(event) {
          seen.push(event);
          if (tells_how_far(event)) stopped ??= call(client, 'rkllm_abort', { handle });
        },
      });
      await stopped;
      const { structuredContent, content } = resultFromTaskOutcome(outcome);
      assert.ok(structuredContent.text.length > 0);
      assert.equal(content[0].text, structuredContent.text);
      assert.ok(stopped, JSON.stringify(seen));
    });
  }

  test('a task that is cancelled stops its run', async () => {
    const execution = await session.callTool('rkllm_run', { handle, ...story(100_000) });
    await eventually(async () => (await call(client, 'rkllm_is_running', { handle })).running);
    await execution.cancel();
    const { outcome } = await execution.settle();
    assert.equal(outcome.status, 'cancelled');
    await eventually(async () => !(await call(client, 'rkllm_is_running', { handle })).running);
  });

  test('a refusal of the tool completes its task', async () => {
    const execution = await session.callTool('rkllm_run', { handle, rkllm_input: { prompt_input: 7 } });
    const { outcome } = await execution.settle();
    const result = resultFromTaskOutcome(outcome);
    assert.equal(result.isError, true);
    assert.match(result.content[0].text, /^params\.rkllm_input\.prompt_input: /);
  });

  test('what does not generate is answered at once, and so is who wants progress', async () => {
    const asked = await session.callTool('rkllm_is_running', { handle });
    assert.equal(asked.kind, 'immediate');
    const watched = await session.callTool('rkllm_run', { handle, ...story(5) }, { metadata: { progressToken: 'p' } });
    assert.equal(watched.kind, 'immediate');
  });
}, kStatelessClients, kAtOnce);

// request(method, params) in the stateless era, by a client that knows tasks unless it says otherwise.
const kRawClients = {
  http: async () => {
    const request = async (method, { _meta, ...params }) => {
      const answer = await post_stateless(url, stateless_request(method, { ...params, _meta: { ...kMeta, ..._meta } }));
      return answer.json();
    };
    return { request, close: async () => {} };
  },
  tcp: async () => {
    const { client, transport } = await connect(server, 'tcp', { client: 'v2-modern' });
    const send = raw_requests(transport);
    const request = (method, { _meta, ...params }) =>
      send({ method, params: { ...params, _meta: stateless_meta({ ...kMeta, ..._meta }) } });
    return { request, close: () => client.close() };
  },
};
const kMeta = { 'io.modelcontextprotocol/clientCapabilities': kCapabilities };

for (const [kind, make] of Object.entries(kRawClients)) {
  describe(`raw over ${kind}`, () => {
    let request;
    let close;
    let onlooker;
    let handle;
    before(async () => {
      ({ request, close } = await make());
      ({ client: onlooker } = await connect(server, 'unix', { client: 'v2-modern' }));
      ({ handle } = await load(onlooker));
    });
    after(async () => {
      await call(onlooker, 'rkllm_destroy', { handle });
      await onlooker.close();
      await close();
    });

    const begin = async (by, tokens) => {
      const { result } = await by('tools/call', { name: 'rkllm_run', arguments: { handle, ...story(tokens) } });
      assert.equal(result.resultType, 'task');
      return result;
    };

    test('a task is begun, asked for until it has completed, and keeps its result', async () => {
      const begun = await begin(request, 100);
      assert.ok(isToolCallTaskResultV2('tools/call', begun), JSON.stringify(begun));
      const { taskId } = begun;
      assert.ok(taskId.length >= 16);
      assert.equal(begun.status, 'working');
      assert.ok(begun.pollIntervalMs > 0 && begun.ttlMs > 0);
      assert.ok(!Number.isNaN(Date.parse(begun.createdAt)));
      let task;
      await eventually(async () => {
        ({ result: task } = await request('tasks/get', { taskId }));
        assert.ok(isDetailedTaskV2(task), JSON.stringify(task));
        assert.equal(task.resultType, 'complete');
        assert.ok(Date.parse(task.lastUpdatedAt) >= Date.parse(task.createdAt));
        return task.status !== 'working';
      });
      assert.equal(task.status, 'completed');
      assert.equal(CallToolResultV2Schema.safeParse(task.result).error?.message, undefined);
      assert.ok(task.result.structuredContent.text.length > 0);
      assert.deepEqual((await request('tasks/get', { taskId })).result, task);
    });

    test('a task outlives the connection that began it', async () => {
      const passing = await make();
      const { taskId } = await begin(passing.request, 100);
      await passing.close();
      await eventually(async () => (await request('tasks/get', { taskId })).result.status === 'completed');
    });

    test('a cancelled task stays cancelled, and can be cancelled again', async () => {
      const { taskId } = await begin(request, 100_000);
      await eventually(async () => (await call(onlooker, 'rkllm_is_running', { handle })).running);
      for (let times = 0; times < 2; ++times) {
        const { result } = await request('tasks/cancel', { taskId });
        assert.equal(result.resultType, 'complete');
      }
      const { result: task } = await request('tasks/get', { taskId });
      assert.equal(task.status, 'cancelled');
      assert.ok(isTaskV2(task));
      assert.equal(task.result, undefined);
      await eventually(async () => !(await call(onlooker, 'rkllm_is_running', { handle })).running);
    });

    test('who listens hears when a task has ended', async () => {
      const { taskId } = await begin(request, 50);
      const { client, transport, received } = await connect(server, 'tcp', { client: 'v2-modern' });
      raw_requests(transport)({
        method: 'subscriptions/listen',
        params: { notifications: { taskIds: [taskId] }, _meta: stateless_meta(kMeta) },
      });
      const heard = await eventually(() => received.find(({ method }) => method === 'notifications/tasks'));
      assert.ok(isTaskStatusNotificationV2(heard), JSON.stringify(heard));
      assert.equal(heard.params.taskId, taskId);
      assert.equal(heard.params.status, 'completed');
      await client.close();
    });

    test('who does not know tasks gets none, and may not ask for any', async () => {
      const ignorant = { 'io.modelcontextprotocol/clientCapabilities': {} };
      const { result } = await request('tools/call',
        { name: 'rkllm_run', arguments: { handle, ...story(5) }, _meta: ignorant });
      assert.equal(result.resultType, 'complete');
      const { taskId } = await begin(request, 5);
      for (const method of ['tasks/get', 'tasks/cancel', 'tasks/update']) {
        const { error } = await request(method, { taskId, inputResponses: {}, _meta: ignorant });
        assert.deepEqual({ code: error.code, data: error.data },
          { code: -32021, data: { requiredCapabilities: { extensions: { [kExtension]: {} } } } });
      }
    });

    test('a task that never was is refused', async () => {
      for (const method of ['tasks/get', 'tasks/cancel', 'tasks/update']) {
        const { error } = await request(method, { taskId: 'never-was', inputResponses: {} });
        assert.equal(error.code, -32602);
      }
    });
  });
}
