// Streams over HTTP, where the official clients do not look: those that break and are resumed, the standing stream, the
// one of HTTP+SSE; sessions that end and clients that leave.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';

import { call, connect, connect_by, kHandshakeClients } from './support/connect.mjs';
import { eventually } from './support/eventually.mjs';
import { Exchange, RawSession, stateless_request } from './support/raw_http.mjs';
import { Server } from './support/server.mjs';

const kSessionRevisions = ['2025-03-26', '2025-06-18', '2025-11-25'];
const kHandles = 'rkllm://handles';

let server;
let url;
let onlooker; // over TCP: sees what the others do
before(async () => {
  server = await Server.start();
  url = `http://127.0.0.1:${server.port('http')}/mcp`;
  ({ client: onlooker } = await connect(server, 'tcp'));
});
after(async () => {
  await onlooker.close();
  await server.stop();
});

const story = (tokens) => ({ prompt_input: `@n=${tokens} Tell me a story.` });
const open_connections = async () => (await (await fetch(new URL('/health', url))).json()).transports.http.connections;
const is_running = async (handle) => (await call(onlooker, 'rkllm_is_running', { handle })).running;

async function load(t) {
  const { handle } = await call(onlooker, 'rkllm_init', { param: { model_path: server.place.model.paced } });
  t.after(() => call(onlooker, 'rkllm_destroy', { handle }));
  return handle;
}

const run = (handle, tokens, more = {}) => ({
  name: 'rkllm_run', arguments: { handle, rkllm_input: story(tokens), ...more },
});

// Reads until `count` events have come; the others are lost with the connection.
async function read_and_break(exchange, count) {
  const events = [];
  for await (const event of exchange.events()) {
    events.push(event);
    if (events.length === count) break;
  }
  exchange.abort();
  return events;
}

describe('a stream that broke', () => {
  for (const revision of kSessionRevisions) {
    test(`is resumed in ${revision} where it broke, and has one result`, async (t) => {
      const handle = await load(t);
      const session = await RawSession.open(url, revision);
      const params = { ...run(handle, 100_000, { progress_message: 'delta' }), _meta: { progressToken: 'p' } };
      const first = await session.request('tools/call', params);
      assert.equal(first.headers.get('x-accel-buffering'), 'no');
      const events = await read_and_break(first, 10);
      assert.equal(events[0].message === '', revision === '2025-11-25', 'the first event primes, for who knows that');
      events.push(...await read_and_break(await session.get({ 'Last-Event-ID': events.at(-1).id }), 10));
      assert.equal(await is_running(handle), true);
      await call(onlooker, 'rkllm_abort', { handle });
      events.push(...await (await session.get({ 'Last-Event-ID': events.at(-1).id })).all_events());

      const ids = events.map(({ id }) => id);
      assert.equal(new Set(ids).size, ids.length);
      const messages = events.map(({ message }) => message).filter(Boolean);
      const progress = messages.filter(({ method }) => method === 'notifications/progress');
      const results = messages.filter((message) => 'result' in message);
      assert.equal(results.length, 1);
      assert.equal(messages.at(-1), results[0]);
      const { text } = results[0].result.structuredContent;
      assert.equal(progress.slice(1).map(({ params: { message } }) => message).join(''), text);

      const at_end = await session.get({ 'Last-Event-ID': ids.at(-1) });
      assert.equal(at_end.status, 405, 'nothing comes after the end');
      const again = await (await session.get({ 'Last-Event-ID': ids.at(-2) })).all_events();
      assert.deepEqual(again.map(({ id }) => id), [ids.at(-1)], 'who lost the end gets it again');
      await session.delete();
    });
  }

  test('is resumed by nobody else, and not by an id that never was', async (t) => {
    const handle = await load(t);
    const session = await RawSession.open(url, '2025-11-25');
    const params = { ...run(handle, 20), _meta: { progressToken: 1 } };
    const [{ id }] = await read_and_break(await session.request('tools/call', params), 1);
    for (const unknown of ['nonsense', '99-1', `${id}0000-`]) {
      assert.equal((await session.get({ 'Last-Event-ID': unknown })).status, 404);
    }
    const other = await RawSession.open(url, '2025-11-25');
    const answer = await other.get({ 'Last-Event-ID': id });
    assert.equal(answer.status, 404);
    await session.delete();
    await other.delete();
  });

  for (const name of kHandshakeClients) {
    test(`is resumed by ${name} itself`, async (t) => {
      const handle = await load(t);
      const requests = [];
      let sever;
      const breakable_fetch = (address, init) => {
        const abort = new AbortController();
        requests.push({ method: init.method, last: new Headers(init.headers).get('last-event-id') });
        if (init.method === 'POST') sever = () => abort.abort(new Error('severed'));
        return fetch(address, { ...init, signal: AbortSignal.any([init.signal, abort.signal].filter(Boolean)) });
      };
      const { client, received } = await connect_by(name, ({ StreamableHTTPClientTransport }) =>
        new StreamableHTTPClientTransport(new URL(url), { fetch: breakable_fetch }));
      const notes = [];
      const { text } = await call(client, 'rkllm_run',
        { handle, rkllm_input: story(400), progress_message: 'delta' },
        { onprogress: (note) => notes.push(note) === 10 && sever() });
      const resumed = requests.filter(({ last }) => last);
      assert.deepEqual(resumed.map(({ method }) => method), ['GET']);
      assert.equal(received.filter(({ result }) => result?.structuredContent?.text === text).length, 1);
      const wire = received.filter(({ method }) => method === 'notifications/progress');
      assert.equal(wire.slice(1).map(({ params: { message } }) => message).join(''), text);
      await client.close();
    });
  }
});

describe('the standing stream of a session', () => {
  test('carries what has changed, and has one reader at a time', async (t) => {
    const session = await RawSession.open(url, '2025-11-25');
    const stream = await session.get();
    assert.equal(stream.status, 200);
    await session.request('resources/subscribe', { uri: kHandles });
    assert.equal((await session.get()).status, 409);
    const handle = await load(t);
    const [event] = await read_and_break(stream, 1);
    assert.deepEqual(event.message,
      { jsonrpc: '2.0', method: 'notifications/resources/updated', params: { uri: kHandles } });

    await session.call('rkllm_run', run(handle, 3).arguments); // nobody reads meanwhile
    const next = await eventually(async () => {
      const tried = await session.get();
      return tried.status === 200 && tried;
    });
    const [{ message }] = await read_and_break(next, 1);
    assert.equal(message.params.uri, kHandles, 'what was not read is kept');
    await session.delete();
  });

  test('tells that lists have changed', async (t) => {
    const changing = await Server.start();
    t.after(() => changing.stop());
    const session = await RawSession.open(`http://127.0.0.1:${changing.port('http')}/mcp`, '2025-11-25');
    const stream = await session.get();
    await changing.replace_library('1.2.3');
    changing.child.kill('SIGHUP');
    const events = await read_and_break(stream, 3);
    assert.deepEqual(events.map(({ message }) => message.method), [
      'notifications/tools/list_changed', 'notifications/resources/list_changed', 'notifications/prompts/list_changed',
    ]);
  });

  test('is only for sessions, and only as events', async () => {
    const session = await RawSession.open(url, '2025-11-25');
    assert.equal((await session.get({ Accept: 'application/json' })).status, 406);
    const nobodys = await Exchange.open(url, { headers: { Accept: 'text/event-stream' } });
    assert.equal(nobodys.status, 405);
    await session.delete();
  });
});

test('a session that was deleted is gone, its stream ends and its run stops', async (t) => {
  const handle = await load(t);
  const session = await RawSession.open(url, '2025-11-25');
  const standing = await session.get();
  const running = await session.request('tools/call', { ...run(handle, 100_000), _meta: { progressToken: 1 } });
  await eventually(() => is_running(handle));
  assert.equal((await session.delete()).status, 204);
  assert.deepEqual(await standing.all_events(), []);
  const last = (await running.all_events()).filter(({ message }) => message.result);
  assert.deepEqual(last, []);
  await eventually(async () => !(await is_running(handle)));
  const resuming = { 'Last-Event-ID': '1-0' };
  for (const gone of [session.request('ping'), session.get(), session.get(resuming), session.delete()]) {
    assert.equal((await gone).status, 404);
  }
});

describe('a client that leaves', () => {
  for (const [what, _meta] of [['events', { progressToken: 1 }], ['one answer', {}]]) {
    test(`has cancelled in the stateless era, while it waits for ${what}`, async (t) => {
      const handle = await load(t);
      const abort = new AbortController();
      const { headers, message } = stateless_request('tools/call', { ...run(handle, 100_000), _meta });
      const asked = fetch(url, { method: 'POST', headers, body: JSON.stringify(message), signal: abort.signal });
      asked.catch(() => {});
      await eventually(() => is_running(handle));
      abort.abort();
      await eventually(async () => !(await is_running(handle)));
    });

    test(`has not cancelled in a session, while it waits for ${what}`, async (t) => {
      const handle = await load(t);
      const session = await RawSession.open(url, '2025-11-25');
      const abort = new AbortController();
      const message = { jsonrpc: '2.0', id: 'r', method: 'tools/call', params: { ...run(handle, 100_000), _meta } };
      const asked = fetch(url,
        { method: 'POST', headers: session.headers(), body: JSON.stringify(message), signal: abort.signal });
      asked.catch(() => {});
      await eventually(() => is_running(handle));
      const open_before = await open_connections();
      abort.abort();
      await eventually(async () => (await open_connections()) < open_before);
      assert.equal(await is_running(handle), true);
      const cancel = { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 'r' } };
      assert.equal((await session.post(cancel)).status, 202);
      await eventually(async () => !(await is_running(handle)));
      await session.delete();
    });
  }
});

describe('the transport of 2024-11-05', () => {
  const sse = () => url.replace('/mcp', '/sse');

  test('first tells where to post, and answers there', async (t) => {
    const stream = await Exchange.open(sse(), { headers: { Accept: 'text/event-stream' } });
    const events = stream.events();
    const { event, message: address } = (await events.next()).value;
    assert.equal(event, 'endpoint');
    const post = (body) => Exchange.open(new URL(address, sse()),
      { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(body) });
    assert.equal((await post({ jsonrpc: '2.0', id: 1, method: 'ping' })).status, 202);
    assert.deepEqual((await events.next()).value.message, { jsonrpc: '2.0', id: 1, result: {} });

    const handle = await load(t);
    await post({ jsonrpc: '2.0', id: 2, method: 'tools/call', params: run(handle, 100_000) });
    await eventually(() => is_running(handle));
    stream.abort();
    await eventually(async () => !(await is_running(handle)));
    await eventually(async () => (await post({ jsonrpc: '2.0', id: 3, method: 'ping' })).status === 404);
  });
});
