// The published schemas and the server agree. What ajv refuses by the whole schema of a function
// (rkllm://api/functions/{name}), the tool refuses as bad arguments, and the other way round; null for what may be
// absent counts as absent. What ajv refuses by the short schema in the list of tools, the tool refuses, too, but for
// other spellings of a value: of another JSON type, or the number of an enumerator. Thousands of small changes to good
// arguments are judged by all three, on the version of the runtime that TESTED_VERSION names: the newest, if it names
// none.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { isDeepStrictEqual } from 'node:util';

import { call, connect, list_tools } from './support/connect.mjs';
import { read_functions } from './support/functions.mjs';
import { mutants } from './support/mutants.mjs';
import { narrowed } from './support/narrowed.mjs';
import { compile_schemas } from './support/schemas.mjs';
import { kVersions, Server } from './support/server.mjs';
import {
  array_samples, batch_samples, clear_range_sample, cross_attention_sample, handle_samples, init_sample,
} from './support/tool_arguments.mjs';

const kVersion = process.env.TESTED_VERSION ?? kVersions.at(-1);
const kInvalidParams = -32602;
const kUnsupported = 4008; // what only other versions have
const kAtOnce = 32; // calls in flight; the queue of a handle takes 64
const kShown = 25; // disagreements

// What a schema cannot state, and only the server refuses: numbers that must agree with each other, and numbers that
// must agree with what was loaded.
const kBeyondSchemas = [
  /: expected .* values.*, found \d+$/, // the length of an array
  /: expected array of \d+ objects \(n_batch\), found/,
  /: expected integer below \d+ \(vocab_size\), found/,
  /: expected mask of \d+ CPUs \(enabled_cpus_num\), found/,
  /: value \d+ is not finite$/, // in base64
  // A rule of the server about the runtime, not of the header: an input of neither is answered with an empty run.
  /multimodal_input\.image: required if there is no video/,
];

let server;
let client;
let tools; // with whole schemas
let schemas;
let shown; // in the list of tools
before(async () => {
  // A thousand models are loaded: each in a process of its own for the newest version only, and so it is only there that
  // what a worker takes and refuses is compared.
  const isolation = kVersion === kVersions.at(-1) ? 'process' : 'thread';
  server = await Server.start({ 'runtime.isolation': isolation }, kVersion);
  ({ client } = await connect(server, 'tcp'));
  tools = new Map((await read_functions(client)).map((tool) => [tool.name, tool]));
  schemas = compile_schemas([...tools.values()]);
  shown = compile_schemas(await list_tools(client));
});
after(async () => {
  await client.close();
  await server.stop();
});

// Arguments that load a model: as all versions together have them, and as this one has them.
const init_of_all = (name, extend_param) => {
  const { param } = init_sample(server.place, name, extend_param);
  return { param: { ...param, img_start: '<img>', img_end: '</img>', img_content: '<pad>' } };
};
const init_arguments = (...which) => narrowed(init_of_all(...which), tools.get('rkllm_init').inputSchema);

// What the server says to the arguments: undefined if it takes them (whatever the runtime then makes of them), else its
// complaint.
async function complaint(tool, args) {
  const result = await client.callTool({ name: tool, arguments: args });
  if (!result.isError) {
    if (tool === 'rkllm_init') await call(client, 'rkllm_destroy', { handle: result.structuredContent.handle });
    if (tool === 'rkllm_destroy') await call(client, 'rkllm_init', init_arguments());
    return undefined;
  }
  const { code } = JSON.parse(result.content[1].text);
  return [kInvalidParams, kUnsupported].includes(code) ? result.content[0].text : undefined;
}

// The arguments without members that are null: what is null is absent.
function without_nulls(value) {
  if (Array.isArray(value)) return value.map(without_nulls);
  if (value === null || typeof value !== 'object') return value;
  const given = Object.entries(value).filter(([, member]) => member !== null);
  return Object.fromEntries(given.map(([name, member]) => [name, without_nulls(member)]));
}

// Whether the short schema refuses what the server takes for another reason than its spelling.
function is_hidden(tool, args) {
  const listed = shown.get(tool)?.input;
  if (!listed || listed(args)) return false;
  const is_spelling = ({ keyword, data }) => keyword === 'type' || (keyword === 'enum' && typeof data === 'number');
  return !listed.errors.every(is_spelling);
}

// No change puts a tag for the picture or the video into the prompt. The runtime does not call back then: the server waits
// 2 s, and says so. rkllm_run has the same schema for its prompt, and is refused at once.
const ends_in_silence = (tool, change) =>
  tool === 'rkllm_run_async' && change.startsWith('rkllm_input.multimodal_input.prompt ');

// Judges all mutants of good arguments, some at once: {found: disagreements, count}.
async function disagreements(tool, sample, at_once) {
  const { input } = schemas.get(tool);
  const ours = narrowed(sample, tools.get(tool).inputSchema);
  assert.ok(input(ours), JSON.stringify(input.errors));
  const found = [];
  let count = 0;
  const judge = async ([change, args]) => {
    const given = without_nulls(args);
    const by_schema = input(given) ? undefined : input.errors;
    if (!by_schema && ends_in_silence(tool, change)) return;
    const by_server = await complaint(tool, args);
    count += 1;
    if (!by_server && is_hidden(tool, given)) found.push(`${tool}: ${change}: refused by the listed schema only`);
    if (Boolean(by_schema) === Boolean(by_server)) return;
    if (by_server && kBeyondSchemas.some((rule) => rule.test(by_server))) return;
    found.push(by_schema ? `${tool}: ${change}: refused by the schema only`
                         : `${tool}: ${change}: refused by the server only: ${by_server}`);
  };
  if (!isDeepStrictEqual(ours, sample)) await judge(['as other versions have it', sample]);
  const queue = mutants(ours);
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
async function load(t, name, extend_param) {
  const { handle } = await call(client, 'rkllm_init', init_arguments(name, extend_param));
  t.after(() => client.callTool({ name: 'rkllm_destroy', arguments: { handle } }));
  return handle;
}

// Judges samples of a tool that this version has.
async function judge_samples(t, tool, samples, at_once = kAtOnce) {
  assert.ok(samples.length > 0);
  const all = [];
  for (const sample of samples) all.push(await disagreements(tool, sample, at_once));
  t.diagnostic(`${assert_agreement(all)} changes judged`);
}

// Whether this version lacks the tool, and refuses it as it should.
async function is_refused(tool, sample) {
  if (tools.has(tool)) return false;
  const result = await client.callTool({ name: tool, arguments: sample });
  assert.equal(JSON.parse(result.content[1].text).code, kUnsupported);
  return true;
}

test('rkllm_createDefaultParam', (t) => judge_samples(t, 'rkllm_createDefaultParam', [{}]));

test('rkllm_init', (t) => judge_samples(t, 'rkllm_init', [init_of_all()], 4));

// Runs for hidden states and logits are like the others, but their answers are large.
const is_large = ({ rkllm_infer_params }) => rkllm_infer_params?.mode.includes('_GET_');

// Whether this version has what the sample is about. Without logits there is no way to learn the size of a vocabulary,
// and all token ids are refused until it is known.
function is_for_this_version([tool, args]) {
  const knows = (part) => JSON.stringify(tools.get(tool).inputSchema).includes(part);
  if (args.rkllm_infer_params && !knows(args.rkllm_infer_params.mode)) return false;
  if (args.rkllm_input?.token_input && !knows('RKLLM_INFER_GET_LOGITS')) return false;
  return !args.rkllm_input?.multimodal_input?.video || knows('"video"');
}

const kTools = new Set(handle_samples({}, '').map(([tool]) => tool));
for (const tool of kTools) {
  test(tool, async (t) => {
    const handle = await load(t, 'fast');
    const samples = handle_samples(server.place, handle);
    if (await is_refused(tool, samples.find(([each]) => each === tool)[1])) return;
    const ours = samples.filter(([each]) => tools.has(each)).filter(is_for_this_version);
    // Runs lean on what is before them: the adapter, and what the first two teach about the model.
    for (const [each, args] of ours) {
      if (each !== tool && each !== 'rkllm_load_lora' && each !== 'rkllm_run') continue;
      await call(client, each, narrowed(args, tools.get(each).inputSchema));
    }
    const judged = [...ours, ...array_samples(handle, tool)].filter(([each, args]) => each === tool && !is_large(args));
    await judge_samples(t, tool, judged.map(([, args]) => args));
  });
}

test('rkllm_run of a batch', async (t) => {
  if (!JSON.stringify(tools.get('rkllm_init').inputSchema).includes('"n_batch"')) return t.skip('since 1.2.1');
  const handle = await load(t, 'fast', { n_batch: 2 });
  await judge_samples(t, 'rkllm_run', batch_samples(handle));
});

test('rkllm_clear_kv_cache of a range', async (t) => {
  const handle = await load(t, 'fast');
  const sample = clear_range_sample(handle);
  if (await is_refused('rkllm_clear_kv_cache', sample)) return;
  await judge_samples(t, 'rkllm_clear_kv_cache', [sample]);
});

test('rkllm_set_cross_attn_params', async (t) => {
  const handle = await load(t, 'cross');
  const sample = cross_attention_sample(handle);
  if (await is_refused('rkllm_set_cross_attn_params', sample)) return;
  await judge_samples(t, 'rkllm_set_cross_attn_params', [sample]);
});

test('rkllm_destroy', async (t) => {
  const handle = await load(t, 'fast');
  t.after(() => client.callTool({ name: 'rkllm_destroy', arguments: {} })); // the one loaded last
  await judge_samples(t, 'rkllm_destroy', [{ handle }], 1);
});
