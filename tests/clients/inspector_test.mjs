// The protocol's own inspector, as a command: lists, calls, reads, over stdio and HTTP, in every era that it knows; and
// what it thinks of the schemas.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';

import { kProgram, Server } from './support/server.mjs';

const kInspector = join(dirname(fileURLToPath(import.meta.resolve('@modelcontextprotocol/inspector/package.json'))),
  'clients', 'launcher', 'build', 'index.js');
const kEras = ['legacy', 'auto', 'modern'];
const kToolRefuses = 5; // exit code
const kAtOnce = 2;

let server;
let home; // the inspector writes into the user's home
let settings; // with a model that is there from the start, for a server that lives for one command
before(async () => {
  server = await Server.start();
  home = join(server.place.directory, 'home');
  await mkdir(home);
  settings = join(server.place.directory, 'stdio_settings.json');
  const models = { fast: { param: { model_path: server.place.model.fast }, autoload: true } };
  await writeFile(settings, JSON.stringify({ models }));
});
after(() => server.stop());

const kTargets = {
  stdio: () => [kProgram, 'stdio', '--library', server.library, '--settings', settings, '--log-level', 'warning'],
  http: () => [`http://127.0.0.1:${server.port('http')}/mcp`],
};

// Runs the inspector: {code, result, complaints}.
function inspect(kind, era, method, ...options) {
  const args = [kInspector, '--cli', '--method', method, ...options, '--protocol-era', era, '--format', 'json',
    ...kTargets[kind]()];
  const env = { PATH: process.env.PATH, HOME: home, NODE_COMPILE_CACHE: join(home, 'compiled') };
  return new Promise((resolve) => {
    execFile(process.execPath, args, { env, maxBuffer: 1 << 26 }, (error, stdout, stderr) => {
      resolve({ code: error ? error.code : 0, result: stdout && JSON.parse(stdout).result, complaints: stderr });
    });
  });
}

// What a command that must succeed prints.
async function inspected(...args) {
  const { code, result, complaints } = await inspect(...args);
  assert.equal(code, 0, complaints);
  return result;
}

const call = async (kind, era, tool, args) =>
  inspected(kind, era, 'tools/call', '--tool-name', tool, '--tool-args-json', JSON.stringify(args));

describe('the inspector', { concurrency: kAtOnce }, () => {
  for (const kind of Object.keys(kTargets)) {
    for (const era of kEras) {
      describe(`${era} over ${kind}`, { concurrency: 1 }, () => {
        test('lists the tools and has nothing to say against their schemas', async () => {
          const { tools } = await inspected(kind, era, 'tools/list', '--strict');
          assert.equal(tools.filter((tool) => tool.name.startsWith('rkllm_')).length, 14);
        });

        test('initialises a model, runs it and destroys it', async () => {
          const { structuredContent: { handle } } =
            await call(kind, era, 'rkllm_init', { param: { model_path: server.place.model.fast } });
          assert.match(handle, /^llm-\d+$/);
          // On stdio the next command meets the next server, and there the model that the settings load.
          const named = kind === 'stdio' ? {} : { handle };
          const ran = await call(kind, era, 'rkllm_run', { ...named, rkllm_input: { prompt_input: 'Hello' } });
          assert.ok(ran.structuredContent.text.length > 0);
          assert.equal(ran.content[0].text, ran.structuredContent.text);
          const { structuredContent } = await call(kind, era, 'rkllm_destroy', named);
          assert.deepEqual(structuredContent, { status: 0 });
        });

        if (era === 'auto') return; // which finds out that it is modern; what follows would only be repeated

        test('says so when a tool refuses', async () => {
          const { code } = await inspect(kind, era, 'tools/call', '--tool-name', 'rkllm_run',
            '--tool-args-json', '{"rkllm_input":{"prompt_input":7}}');
          assert.equal(code, kToolRefuses);
        });

        test('lists and reads resources', async () => {
          const { resources } = await inspected(kind, era, 'resources/list');
          assert.deepEqual(resources.map(({ uri }) => uri),
            ['rkllm://api', 'rkllm://runtime', 'rkllm://settings', 'rkllm://handles', 'rkllm://models']);
          const { resourceTemplates } = await inspected(kind, era, 'resources/templates/list');
          assert.equal(resourceTemplates.length, 7);
          const { contents } = await inspected(kind, era, 'resources/read', '--uri', 'rkllm://runtime');
          assert.equal(JSON.parse(contents[0].text).simulated, true);
        });

        test('lists and gets prompts', async () => {
          const { prompts } = await inspected(kind, era, 'prompts/list');
          assert.deepEqual(prompts.map(({ name }) => name), ['set_up_model', 'chat', 'summarize', 'use_tools']);
          const { messages } =
            await inspected(kind, era, 'prompts/get', '--prompt-name', 'chat', '--prompt-args', 'message=Hello');
          assert.match(messages[0].content.text, /Hello/);
        });
      });
    }
  }
});
