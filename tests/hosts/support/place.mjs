// Where hosts meet the board: a directory with a simulated model, an rkllm-mcp that serves HTTP, and how to start one
// that speaks over its standard input and output.
import { spawn } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout } from 'node:timers/promises';

import { kProgram, kVersions, Server, simulator_of } from '../../clients/support/server.mjs';

const kModel = { rkllm_simulated_model: 1, name: 'SIMULATED board', decode_tokens_per_s: 50 };
const kPatience = 200_000; // ms; less than the endless prompt takes

export const kModelName = 'board'; // of which the server knows as well
export const kShortPrompt = '@n=8';
export const kLongPrompt = '@n=250';
export const kEndlessPrompt = '@n=20000';

export class Place {
  static async make() {
    const models_directory = await mkdtemp(join(tmpdir(), 'rkllm-hosts-'));
    const model_path = join(models_directory, 'board.json');
    await writeFile(model_path, JSON.stringify(kModel));
    const models = JSON.stringify({ [kModelName]: { param: { model_path, max_context_len: 4096 }, template: 'qwen3' } });
    const server = await Server.start({ models });
    const { directory } = server.place;
    const stdio = { command: kProgram, args: ['stdio', '--library', simulator_of(kVersions.at(-1)),
      '--settings', join(directory, 'stdio.json'), '--log-level', 'warning', '--set', `runtime.cache_dir=${directory}`, '--set', 'memory.database=:memory:', '--set', `models=${models}`] };
    const http = `http://127.0.0.1:${server.port('http')}`;
    const place = new Place();
    Object.assign(place, { server, directory, models_directory, model_path, stdio, url: `${http}/mcp`, rpc_url: `${http}/jsonrpc` });
    place.expected = await place.#ask_directly();
    return place;
  }

  // Waits until a run is going on on a handle of the server that serves HTTP, or none is.
  async until_running(handle, wanted) {
    const deadline = Date.now() + kPatience;
    while (Date.now() < deadline) {
      const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'rkllm_is_running', params: { handle } });
      const headers = { 'content-type': 'application/json' };
      const { result } = await (await fetch(this.rpc_url, { method: 'POST', headers, body })).json();
      if (result.running === wanted) return;
      await setTimeout(20);
    }
    throw new Error(`${handle} is ${wanted ? 'not ' : ''}running after ${kPatience} ms`);
  }

  async remove() {
    await this.server.stop();
    await rm(this.models_directory, { recursive: true });
  }

  // What the server itself says, without a host between: its tools, and what comes of the short prompt.
  async #ask_directly() {
    const child = spawn(this.stdio.command, this.stdio.args, { stdio: ['pipe', 'pipe', 'ignore'] });
    const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
    const call = async (method, params = {}) => {
      child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })}\n`);
      const { result, error } = JSON.parse((await lines.next()).value);
      if (error) throw new Error(`${method}: ${error.message}`);
      return result;
    };
    const { tools } = await call('tools/list');
    const { handle } = await call('rkllm_init', { param: { model_path: this.model_path } });
    const { text } = await call('rkllm_run', { handle, rkllm_input: { prompt_input: kShortPrompt }, stream: false });
    const { cache_sizes } = await call('rkllm_get_kv_cache_size', { handle });
    const { structuredContent } = await call('tools/call', { name: 'chat', arguments: { model: kModelName, message: kShortPrompt } });
    child.stdin.end();
    return { tools, text, kv_size: cache_sizes[0], said: structuredContent.text };
  }
}
