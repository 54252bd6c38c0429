// Every tool, called with good and with bad arguments by every official client over every transport; what comes back is
// held against the published schemas, by the SDK and once more by ajv in strict mode.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';

import { connect, describe_all, list_tools } from './support/connect.mjs';
import { read_functions } from './support/functions.mjs';
import { compile_schemas, complaints } from './support/schemas.mjs';
import { Server } from './support/server.mjs';
import { cross_attention_sample, faults, handle_samples, init_sample } from './support/tool_arguments.mjs';

let server;
let functions; // the whole schemas of all, which are more than a datagram holds
before(async () => {
  server = await Server.start();
  const { client } = await connect(server, 'tcp');
  functions = await read_functions(client);
  await client.close();
});
after(() => server.stop());

describe_all((client_name, kind) => {
  let client;
  let errors;
  let schemas; // of all functions, whole
  let shown; // by the list of tools
  before(async () => {
    ({ client, errors } = await connect(server, kind, { client: client_name }));
    schemas = compile_schemas(functions);
    shown = compile_schemas(await list_tools(client));
  });
  after(async () => {
    await client.close();
    assert.deepEqual(errors, []);
  });

  const called = new Set();

  // Calls a tool that must succeed.
  async function call(tool, args) {
    const { input, output } = schemas.get(tool);
    assert.ok(input(args), `${tool} refuses ${JSON.stringify(args)}: ${complaints(input)}`);
    const result = await client.callTool({ name: tool, arguments: args });
    assert.ok(!result.isError, `${tool}: ${result.content[0]?.text}`);
    const structured = result.structuredContent;
    assert.ok(output(structured), `${tool} gave ${JSON.stringify(structured)}: ${complaints(output)}`);
    const listed = shown.get(tool)?.output;
    assert.ok(!listed || listed(structured), `${tool}, as it is listed: ${listed && complaints(listed)}`);
    assert.equal(result.content[0].type, 'text');
    const { text } = result.content[0];
    if ('text' in structured) assert.equal(text, with_links(structured.text, result.content));
    else assert.deepEqual(JSON.parse(text), structured);
    called.add(tool);
    return structured;
  }

  test('one of the two runs is listed, and the other can be called', () => {
    const names = [...schemas.keys()];
    assert.deepEqual(names.filter((name) => !shown.has(name)), ['rkllm_run_async']);
  });

  test('every tool works', async () => {
    assert.equal((await call('rkllm_createDefaultParam', {})).max_new_tokens, 512);
    const { handle } = await call('rkllm_init', init_sample(server.place));
    for (const [tool, args] of handle_samples(server.place, handle)) {
      await call(tool, args);
    }
    assert.deepEqual(await call('rkllm_destroy', { handle }), { status: 0 });

    const crossing = await call('rkllm_init', init_sample(server.place, 'cross'));
    await call('rkllm_set_cross_attn_params', cross_attention_sample(crossing.handle));
    await call('rkllm_run', { handle: crossing.handle, rkllm_input: { prompt_input: 'Hello' } });
    await call('rkllm_destroy', { handle: crossing.handle });
    assert.deepEqual([...called].sort(), [...schemas.keys()].sort());
  });

  test('bad arguments give a readable result that names their path', async () => {
    const { handle } = await call('rkllm_init', init_sample(server.place));
    const refused = new Set();
    for (const [tool, args, path] of faults(server.place, handle)) {
      const what = `${tool} ${JSON.stringify(args)}`;
      const result = await client.callTool({ name: tool, arguments: args });
      assert.equal(result.isError, true, what);
      assert.equal(result.structuredContent, undefined, what);
      assert.ok(result.content[0].text.startsWith(`${path}: `), `${what}: ${result.content[0].text}`);
      assert.equal(JSON.parse(result.content[1].text).code, -32602, what);
      refused.add(tool);
    }
    assert.deepEqual([...refused].sort(), [...schemas.keys()].sort());
    await call('rkllm_destroy', { handle });
  });

  test('refusals of the runtime are results with its words', async () => {
    const missing = await client.callTool({ name: 'rkllm_init', arguments: { param: { model_path: '/no/model' } } });
    assert.equal(missing.isError, true);
    const { code, data } = JSON.parse(missing.content[1].text);
    assert.equal(code, 4001);
    assert.equal(data.function, 'rkllm_init');
    assert.equal(data.status, -1);
    const unknown = await client.callTool({ name: 'rkllm_abort', arguments: { handle: 'llm-99' } });
    assert.equal(JSON.parse(unknown.content[1].text).code, 4002);
    assert.match(unknown.content[0].text, /llm-99/);
  });
});

// The text of a run, and where the values are that its answer only links to.
function with_links(text, content) {
  const links = content.filter(({ type }) => type === 'resource_link');
  return [text, ...links.map(({ name, uri, description }) => `${name}: ${uri} (${description})`)].join('\n');
}

// The calls that a prompt tells a model to make: [tool, arguments].
function calls_in(text) {
  return [...text.matchAll(/(rkllm_\w+)(?: again)? with \{/g)].map((match) => {
    const rest = text.slice(match.index + match[0].length - 1);
    for (let end = rest.indexOf('}'); end >= 0; end = rest.indexOf('}', end + 1)) {
      try {
        return [match[1], JSON.parse(rest.slice(0, end + 1))];
      } catch {
        // It goes on behind this brace.
      }
    }
    throw new Error(`no JSON behind ${match[0]}`);
  });
}

test('what the prompt use_tools tells a model to call can be called', async (t) => {
  const { client } = await connect(server, 'tcp');
  t.after(() => client.close());
  const { structuredContent: { handle } } =
    await client.callTool({ name: 'rkllm_init', arguments: init_sample(server.place) });
  const tools = JSON.stringify([{ type: 'function', function: { name: 'get_weather', parameters: { type: 'object' } } }]);
  const prompt = await client.getPrompt({ name: 'use_tools', arguments: { question: 'Is it wet?', tools, handle } });
  const calls = calls_in(prompt.messages[0].content.text);
  assert.deepEqual(calls.map(([tool]) => tool), ['rkllm_set_function_tools', 'rkllm_run', 'rkllm_run']);
  for (const [name, args] of calls) {
    const result = await client.callTool({ name, arguments: args });
    assert.ok(!result.isError, `${name} ${JSON.stringify(args)}: ${result.content[0].text}`);
  }
  await client.callTool({ name: 'rkllm_destroy', arguments: { handle } });
});
