// The real rkllm-mcp on the simulator, in a directory of its own, on ports that it chooses itself.
//
// TESTED_PROGRAM names the binary. Everything a server writes (settings, prompt caches, models made for tests) stays
// in the directory, which goes away with stop().
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { copyFile, mkdtemp, readFile, rename, rm, watch, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';

export const kProgram = process.env.TESTED_PROGRAM;
if (!kProgram) throw new Error('set TESTED_PROGRAM to the path of the rkllm-mcp to test');

// Of the runtime, from old to new.
export const kVersions = ['1.1.4', '1.2.0', '1.2.1b1', '1.2.3', '1.3.0'];

// The library that simulates a version of the runtime.
export function simulator_of(version) {
  const suffix = version === kVersions.at(-1) ? '' : `_${version.replaceAll('.', '_')}`;
  return resolve(dirname(kProgram), '..', 'lib', `librkllm_sim${suffix}.so`);
}

const kPatience = 60_000; // ms; far above what anything here takes, sanitizers included

// Simulated models. Small numbers where a test sends rows of floats.
const kModels = {
  fast: { answer_tokens: [3, 6], embedding_size: 4 },
  paced: { decode_tokens_per_s: 200 },
  cross: { answer_tokens: [3, 6], cross_attention: true },
};

// A directory with the models (model.<name>), a LoRA adapter and room for whatever a server writes.
export async function make_workplace() {
  const directory = await mkdtemp(join(tmpdir(), 'rkllm-mcp-clients-'));
  const model = {};
  for (const [name, fields] of Object.entries(kModels)) {
    model[name] = join(directory, `${name}.json`);
    const file = { rkllm_simulated_model: 1, name: `SIMULATED ${name}`, ...fields };
    await writeFile(model[name], JSON.stringify(file));
  }
  const lora = join(directory, 'lora.json');
  await writeFile(lora, JSON.stringify({ rkllm_simulated_lora: 1 }));
  return {
    directory,
    model,
    lora,
    settings: join(directory, 'settings.json'),
    remove: () => rm(directory, { recursive: true, force: true }),
  };
}

// Waits until the process has ended: {code, signal}. Fails when it takes longer than `patience` ms.
export function ended(child, patience = kPatience) {
  return new Promise((resolve, reject) => {
    if (child.exitCode !== null || child.signalCode !== null) {
      return resolve({ code: child.exitCode, signal: child.signalCode });
    }
    const timer = setTimeout(() => {
      child.kill('SIGKILL');
      reject(new Error(`process ${child.pid} has not ended after ${patience} ms`));
    }, patience);
    child.once('exit', (code, signal) => {
      clearTimeout(timer);
      resolve({ code, signal });
    });
  });
}

// Waits until a file exists in the directory; fails when `given_up` aborts.
async function appears(path, directory, given_up) {
  const changes = watch(directory, { signal: given_up });
  if (existsSync(path)) return;
  for await (const _ of changes) {
    if (existsSync(path)) return;
  }
}

export class Server {
  // `settings`: {"limits.max_message_bytes": 12000, ...}; `version` of the simulated runtime. Its library is a copy.
  static async start(settings = {}, version = kVersions.at(-1)) {
    const place = await make_workplace();
    const library = join(place.directory, 'librkllmrt.so');
    await copyFile(simulator_of(version), library);
    const ports_file = join(place.directory, 'ports.json');
    const chosen = { 'tcp.port': 0, 'udp.port': 0, 'http.port': 0, 'ws.port': 0,
      'unix.path': join(place.directory, 'socket'), ...settings };
    const sets = Object.entries(chosen).flatMap(([name, value]) => ['--set', `${name}=${value}`]);
    const args = ['serve', '--library', library, '--settings', place.settings, '--ports-file', ports_file,
      '--set', `runtime.cache_dir=${place.directory}`, '--set', 'memory.database=:memory:', ...sets];
    const child = spawn(kProgram, args, { cwd: place.directory, stdio: ['ignore', 'ignore', 'pipe'] });
    const server = new Server(child, place, library);
    const given_up = new AbortController();
    const timer = setTimeout(() => given_up.abort(), kPatience);
    child.once('close', () => given_up.abort());
    try {
      await appears(ports_file, place.directory, given_up.signal);
    } catch {
      child.kill('SIGKILL');
      throw new Error(`the server did not start:\n${server.log}`);
    } finally {
      clearTimeout(timer);
    }
    server.ports = JSON.parse(await readFile(ports_file, 'utf8'));
    return server;
  }

  constructor(child, place, library) {
    this.child = child;
    this.place = place;
    this.library = library;
    this.log = '';
    child.stderr.setEncoding('utf8').on('data', (text) => {
      this.log += text;
    });
  }

  // Puts another version of the runtime in place of this one; servers look at it when they get SIGHUP.
  async replace_library(version) {
    const other = `${this.library}.new`;
    await copyFile(simulator_of(version), other);
    await rename(other, this.library);
  }

  port(transport) {
    return this.ports[transport].port;
  }

  get unix_path() {
    return join(this.place.directory, 'socket');
  }

  // Ends the server, which must still be alive and must end well.
  async stop() {
    this.child.kill('SIGTERM');
    const { code, signal } = await ended(this.child);
    await this.place.remove();
    if (code !== 0) throw new Error(`the server ended with ${code ?? signal}:\n${this.log}`);
  }
}
