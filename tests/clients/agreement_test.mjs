// The published schemas and the server agree: what ajv refuses by a tool's inputSchema, the tool refuses as bad
// arguments, and the other way round. Thousands of small changes to good arguments are judged by both.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';

import { call, connect, list_tools } from './support/connect.mjs';
import { mutants } from './support/mutants.mjs';
import { compile_schemas } from './support/schemas.mjs';
import { Server } from './support/server.mjs';
import { clear_range_sample, cross_attention_sample, handle_samples, init_sample } from './support/tool_arguments.mjs';

const kInvalidParams = -32602;
const kAtOnce = 32; // calls in flight; the queue of a handle takes 64
const kShown = 25; // disagreements

// What a schema cannot state, and only the server refuses: numbers that must agree with each other, and numbers that
// must agree with what was loaded.
const kBeyondSchemas = [
  /: expected .* values.*, found \d+$/, // the length of an array
  /: expected integer below \d+ \(vocab_size\), found/,
  /: expected mask of \d+ CPUs \(enabled_cpus_num\), found/,
];

let server;
let client;
let schemas;
before(async () => {
  server = await Server.start();
  ({ client } = await connect(server, 'tcp'));
  schemas = compile_schemas((await list_tools(client)).tools);
});
after(async () => {
  await client.close();
  await server.stop();
});

// What the server says to the arguments: undefined if it takes them (whatever the runtime then makes of them), else its
// complaint.
async function complaint(tool, args) {
  const result = await client.callTool({ name: tool, arguments: args });
  if (!result.isError) {
    if (tool === 'rkllm_init') await call(client, 'rkllm_destroy', { handle: result.structuredContent.handle });
    if (tool === 'rkllm_destroy') await call(client, 'rkllm_init', init_sample(server.place));
    return undefined;
  }
  const { code } = JSON.parse(result.content[1].text);
  return code === kInvalidParams ? result.content[0].text : undefined;
}

// Judges all mutants of good arguments, some at once: {found: disagreements, count}.
async function disagreements(tool, sample, at_once) {
  const { input } = schemas.get(tool);
  assert.ok(input(sample), JSON.stringify(input.errors));
  const found = [];
  let count = 0;
  const judge = async ([change, args]) => {
    const by_schema = input(args) ? undefined : input.errors;
    const by_server = await complaint(tool, args);
    count += 1;
    if (Boolean(by_schema) === Boolean(by_server)) return;
    if (by_server && kBeyondSchemas.some((rule) => rule.test(by_server))) return;
    found.push(by_schema ? `${tool}: ${change}: refused by the schema only`
                         : `${tool}: ${change}: refused by the server only: ${by_server}`);
  };
  const queue = mutants(sample);
  const work = async () => {
    for (const mutant of queue) await judge(mutant);
  };
  await Promise.all(Array.from({ length: at_once }, work));
  return { found, count };
}

function assert_agreement(all) {
  const found = all.flatMap((each) => each.found);
  const shown = found.slice(0, kShown).join('\n');
  assert.equal(found.length, 0, `${found.length} disagreements, among them\n${shown}`);
  return all.reduce((sum, { count }) => sum + count, 0);
}

// Loads a model for one test.
async function load(t, name) {
  const { handle } = await call(client, 'rkllm_init', init_sample(server.place, name));
  t.after(() => client.callTool({ name: 'rkllm_destroy', arguments: { handle } }));
  return handle;
}

// Judges a tool's samples on a handle of its own.
async function judge_samples(t, tool, samples, at_once = kAtOnce) {
  const all = [];
  for (const sample of samples) all.push(await disagreements(tool, sample, at_once));
  t.diagnostic(`${assert_agreement(all)} changes judged`);
}

test('rkllm_createDefaultParam', (t) => judge_samples(t, 'rkllm_createDefaultParam', [{}]));

test('rkllm_init', (t) => judge_samples(t, 'rkllm_init', [init_sample(server.place)], 4));

// Runs for hidden states and logits are like the others, but their answers are large.
const is_large = ({ rkllm_infer_params }) => rkllm_infer_params?.mode.includes('_GET_');

const kTools = new Set(handle_samples({}, '').map(([tool]) => tool));
for (const tool of kTools) {
  test(tool, async (t) => {
    const handle = await load(t, 'fast');
    const samples = handle_samples(server.place, handle);
    // Runs lean on what is before them: the adapter, and what the first two teach about the model.
    for (const [each, args] of samples) {
      if (each === tool || each === 'rkllm_load_lora' || each === 'rkllm_run') await call(client, each, args);
    }
    const judged = samples.filter(([each, args]) => each === tool && !is_large(args));
    await judge_samples(t, tool, judged.map(([, args]) => args));
  });
}

test('rkllm_clear_kv_cache of a range', async (t) => {
  const handle = await load(t, 'fast');
  await judge_samples(t, 'rkllm_clear_kv_cache', [clear_range_sample(handle)]);
});

test('rkllm_set_cross_attn_params', async (t) => {
  const handle = await load(t, 'cross');
  await judge_samples(t, 'rkllm_set_cross_attn_params', [cross_attention_sample(handle)]);
});

test('rkllm_destroy', async (t) => {
  const handle = await load(t, 'fast');
  t.after(() => client.callTool({ name: 'rkllm_destroy', arguments: {} })); // the one loaded last
  await judge_samples(t, 'rkllm_destroy', [{ handle }], 1);
});
