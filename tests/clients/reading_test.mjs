// What a client can read: resources, prompts, and the values that complete their arguments; by every official client
// over every transport.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';

import { call, connect, describe_all, list_all } from './support/connect.mjs';
import { Server } from './support/server.mjs';

const kResources = ['rkllm://api', 'rkllm://runtime', 'rkllm://settings', 'rkllm://handles', 'rkllm://models'];
const kTemplates = [
  'rkllm://api/functions/{name}', 'rkllm://api/structs/{name}', 'rkllm://api/enums/{name}',
  'rkllm://api/constants/{name}', 'rkllm://handles/{id}', 'rkllm://values/{id}{?offset,length}',
  'memory://conversation/{id}',
];
// Of these only who was given an id shall know it, or there is none yet.
const kUnnamed = ['rkllm://values/{id}{?offset,length}', 'memory://conversation/{id}'];
const kPrompts = {
  set_up_model: { model: '/models/tiny.rkllm' },
  chat: { message: 'Say "hello".', mode: 'RKLLM_INFER_GENERATE' },
  summarize: { text: 'A long story.', language: 'Vietnamese' },
  use_tools: { question: 'What is the weather?', tools: '[]' },
};
const kDatagramBytes = 65_507;

let server;
let handle;
let loader;
before(async () => {
  server = await Server.start();
  ({ client: loader } = await connect(server, 'tcp'));
  ({ handle } = await call(loader, 'rkllm_init', { param: { model_path: server.place.model.fast } }));
});
after(async () => {
  await loader.close();
  await server.stop();
});

describe_all((client_name, kind) => {
  let client;
  let errors;
  let own_handle = () => handle;
  before(async () => {
    ({ client, errors } = await connect(server, kind, { client: client_name }));
    if (kind !== 'stdio') return; // a server of its own
    const own = await call(client, 'rkllm_init', { param: { model_path: server.place.model.fast } });
    own_handle = () => own.handle;
  });
  after(async () => {
    await client.close();
    assert.deepEqual(errors, []);
  });

  async function read(uri) {
    const { contents } = await client.readResource({ uri });
    assert.equal(contents.length, 1);
    assert.equal(contents[0].uri, uri);
    assert.equal(contents[0].mimeType, 'application/json');
    return contents[0].text;
  }

  test('every resource in the list can be read', async () => {
    const resources = await list_all(client, 'listResources', 'resources');
    assert.deepEqual(resources.map(({ uri }) => uri), kResources);
    for (const { uri, name, title, description, mimeType, size } of resources) {
      assert.ok(name && title && description, uri);
      assert.equal(mimeType, 'application/json');
      if (kind === 'udp' && uri === 'rkllm://api') {
        assert.ok(size + 1000 > kDatagramBytes); // escaped it is even longer
        await assert.rejects(read(uri), { code: 4006, message: /ask over tcp/ });
        continue;
      }
      const text = await read(uri);
      assert.equal(typeof JSON.parse(text), 'object');
      if (size !== undefined) assert.equal(Buffer.byteLength(text), size);
    }
  });

  test('every template leads to resources, whose names can be completed', async () => {
    const templates = await list_all(client, 'listResourceTemplates', 'resourceTemplates');
    assert.deepEqual(templates.map((each) => each.uriTemplate), kTemplates);
    for (const { uriTemplate } of templates) {
      if (kUnnamed.includes(uriTemplate)) continue;
      const [, variable] = uriTemplate.match(/\{(\w+)\}/);
      const ref = { type: 'ref/resource', uri: uriTemplate };
      const complete = async (value) =>
        (await client.complete({ ref, argument: { name: variable, value } })).completion;
      const { values, total, hasMore } = await complete('');
      assert.ok(values.length > 0, uriTemplate);
      assert.equal(hasMore, total > values.length);
      const name = values.at(-1);
      assert.deepEqual((await complete(name.slice(0, -1))).values.filter((each) => each === name), [name]);
      assert.deepEqual(await complete('no such beginning'), { values: [], total: 0, hasMore: false });
      const read_back = JSON.parse(await read(uriTemplate.replace(`{${variable}}`, name)));
      assert.equal(read_back.name ?? read_back.id, name);
    }
  });

  test('what the handles do is not remembered but read', async () => {
    const before_it = JSON.parse(await read('rkllm://handles')).handles.length;
    const { handle: another } = await call(client, 'rkllm_init', { param: { model_path: server.place.model.fast } });
    assert.equal(JSON.parse(await read('rkllm://handles')).handles.length, before_it + 1);
    assert.equal(JSON.parse(await read(`rkllm://handles/${another}`)).running, false);
    await call(client, 'rkllm_destroy', { handle: another });
    assert.equal(JSON.parse(await read('rkllm://handles')).handles.length, before_it);
    const uri = `rkllm://handles/${another}`;
    await assert.rejects(read(uri), { code: -32602, data: { uri } });
  });

  test('every prompt speaks of its arguments', async () => {
    const prompts = await list_all(client, 'listPrompts', 'prompts');
    assert.deepEqual(prompts.map(({ name }) => name), Object.keys(kPrompts));
    for (const { name, title, description, arguments: known } of prompts) {
      assert.ok(title && description, name);
      const given = kPrompts[name];
      assert.deepEqual(Object.keys(given).filter((each) => !known.some((argument) => argument.name === each)), []);
      const { messages } = await client.getPrompt({ name, arguments: given });
      assert.equal(messages.length, 1);
      assert.equal(messages[0].role, 'user');
      assert.equal(messages[0].content.type, 'text');
      for (const value of Object.values(given)) {
        assert.ok(messages[0].content.text.includes(JSON.stringify(value).slice(1, -1)) ||
          messages[0].content.text.includes(value), `${name} says ${value}`);
      }
      const required = known.filter((argument) => argument.required).map((argument) => argument.name);
      assert.ok(required.length > 0);
      for (const missing of required) {
        const { [missing]: _, ...rest } = given;
        await assert.rejects(client.getPrompt({ name, arguments: rest }),
          { code: -32602, message: new RegExp(`params\\.arguments\\.${missing}`) });
      }
    }
  });

  test('arguments of prompts are completed', async () => {
    const complete = async (prompt, name, value, context) =>
      (await client.complete({ ref: { type: 'ref/prompt', name: prompt }, argument: { name, value }, context }))
        .completion.values;
    assert.ok((await complete('chat', 'handle', 'llm-')).includes(own_handle()));
    assert.deepEqual(await complete('chat', 'mode', 'RKLLM_INFER_GET_LO', { arguments: { message: 'x' } }),
      ['RKLLM_INFER_GET_LOGITS']);
    assert.deepEqual(await complete('chat', 'message', ''), []);
    assert.deepEqual(await complete('sing', 'song', ''), []);
  });
});
