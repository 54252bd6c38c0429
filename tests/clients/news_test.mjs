// What the server tells unasked: that a resource or a list has changed, and what the library prints; to every official
// client over every transport.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';

import { call, connect, describe_all, kClients, kTransports, list_all } from './support/connect.mjs';
import { eventually } from './support/eventually.mjs';
import { kVersions, Server } from './support/server.mjs';

const kHandles = 'rkllm://handles';
const kAtOnce = 8;
const kLists = ['tools', 'resources', 'prompts'];

let server;
before(async () => {
  server = await Server.start();
});
after(() => server.stop());

const load = (client, model = 'fast') =>
  call(client, 'rkllm_init', { param: { model_path: server.place.model[model] } });

describe_all((client_name, kind) => {
  let client;
  const changed = []; // URIs
  before(async () => {
    ({ client } = await connect(server, kind, { client: client_name }));
    client.on('notifications/resources/updated', ({ uri }) => changed.push(uri));
  });
  after(() => client.close());

  const describes = async (handle) =>
    JSON.parse((await client.readResource({ uri: `${kHandles}/${handle}` })).contents[0].text);

  test('who watches the handles hears of loading, of the run and its end, and of destroying', async () => {
    const stop_watching_all = await client.watch([kHandles]);
    const { handle } = await load(client, 'paced');
    await eventually(() => changed.includes(kHandles));

    const uri = `${kHandles}/${handle}`;
    const stop_watching_one = await client.watch([uri]);
    changed.length = 0;
    const states = [];
    client.on('notifications/resources/updated', async (note) => {
      changed.push(note.uri);
      if (note.uri === uri) states.push((await describes(handle)).running);
    });
    const running = call(client, 'rkllm_run', { handle, rkllm_input: { prompt_input: '@n=100000 Tell me a story.' } });
    await eventually(() => states.includes(true));
    await call(client, 'rkllm_abort', { handle });
    await running;
    await eventually(() => states.at(-1) === false);
    assert.ok(changed.includes(kHandles));
    assert.ok(changed.filter((each) => each === uri).length <= 4, `${changed}`);

    changed.length = 0;
    client.on('notifications/resources/updated', (note) => changed.push(note.uri));
    await call(client, 'rkllm_destroy', { handle });
    await eventually(() => changed.includes(kHandles) && changed.includes(uri));
    await stop_watching_one();
    await stop_watching_all();
  });

  test('who has stopped to watch hears nothing more', async () => {
    const stop = await client.watch([kHandles]);
    await stop();
    const { handle } = await load(client);
    const uri = `${kHandles}/${handle}`;
    const stop_watching_one = await client.watch([uri]);
    changed.length = 0;
    await call(client, 'rkllm_destroy', { handle });
    await eventually(() => changed.length > 0);
    await client.knock();
    assert.deepEqual([...new Set(changed)], [uri]);
    await stop_watching_one();
  });

  test('what the library prints is heard by those who asked for its level', async () => {
    const heard = [];
    client.on('notifications/message', (note) => heard.push(note));
    const param = { model_path: server.place.model.fast };
    // Loads a model; gives what was heard of its process.
    const load_with = async (level) => {
      if (!client.is_stateless()) await client.setLoggingLevel(level);
      const _meta = client.is_stateless() ? { _meta: { 'io.modelcontextprotocol/logLevel': level } } : {};
      const { structuredContent } = await client.callTool({ name: 'rkllm_init', arguments: { param }, ..._meta });
      const { handle } = structuredContent;
      const { process: worker } = await describes(handle);
      await call(client, 'rkllm_destroy', { handle });
      return () => heard.filter(({ logger, data }) => logger === 'runtime' && data.worker === worker);
    };
    const of_debug = await load_with('debug');
    await eventually(() => of_debug().some(({ data }) => /SIMULATED/.test(data.text)));
    const of_emergency = await load_with('emergency');
    await client.knock();
    assert.deepEqual(of_emergency(), []);
  });
}, kClients, kAtOnce);

test('another runtime comes, and every client hears that the lists have changed', async (t) => {
  const changing = await Server.start();
  t.after(() => changing.stop());
  const all = [];
  for (const name of kClients) {
    for (const kind of kTransports) {
      const { client, transport } = await connect(changing, kind, { client: name });
      const heard = new Set();
      for (const list of kLists) client.on(`notifications/${list}/list_changed`, () => heard.add(list));
      await client.watch([]);
      const { resources } = await client.listResources();
      assert.match(resources[0].title, /1\.3\.0/);
      all.push({ what: `${name} over ${kind}`, client, pid: transport.pid, heard });
    }
  }
  await changing.replace_library(kVersions.at(-2));
  const processes = all.flatMap(({ pid }) => pid ?? []); // those on stdio
  for (const pid of [changing.child.pid, ...processes]) process.kill(pid, 'SIGHUP');
  for (const { what, client, heard } of all) {
    await eventually(() => heard.size === kLists.length).catch(() => assert.fail(`${what} heard of ${[...heard]}`));
    const resources = await list_all(client, 'listResources', 'resources');
    assert.match(resources[0].title, new RegExp(kVersions.at(-2).replaceAll('.', '\\.')), what);
    await client.close();
  }
});
