// A board for chat clients: the real server on the simulator, with models that say what a message tells them to.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { eventually } from '../../clients/support/eventually.mjs';
import { Server } from '../../clients/support/server.mjs';

// The file's name says which family the model is of. It thinks where a client lets it, and can call tools.
export const kModel = 'qwen3-small';
export const kSlowModel = 'qwen3-slow'; // at a board's speed
export const kContext = 4096;
export const kLargeModel = 'qwen3-large'; // with room for what agents say to a model before their users say anything
export const kLargeContext = 262_144;

const kFiles = {
  [kModel]: { answer_tokens: [3, 6], embedding_size: 8 },
  [kSlowModel]: { decode_tokens_per_s: 50 },
  [kLargeModel]: { max_context_len: kLargeContext },
};

// A message that makes the model answer with this text; with several, with one after the other, the last one from then
// on. A line that is asked for twice counts as one, so texts of different tests have to differ.
export function saying(...texts) {
  const script = JSON.stringify(texts.length === 1 ? texts[0] : texts);
  return `@say=${script.replaceAll('<', '\\u003c')}`; // "<" of a message never begins a mark
}

// A message that is not answered in a test's time.
export const kEndless = '@n=3000';

// What the model says to call a tool.
export const calling = (name, args) => `<tool_call>\n${JSON.stringify({ name, arguments: args })}\n</tool_call>`;

// A picture of one point, as a data: address.
export const kModels = [kLargeModel, kSlowModel, kModel]; // as lists have them, sorted

export const kPicture = 'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

export class Board {
  static async start(settings = {}, presets = {}) {
    const folder = await mkdtemp(join(tmpdir(), 'rkllm-mcp-models-'));
    for (const [name, fields] of Object.entries(kFiles)) {
      const file = { rkllm_simulated_model: 1, name: `SIMULATED ${name}`, max_context_len: kContext, ...fields };
      await writeFile(join(folder, `${name}.rkllm`), JSON.stringify(file));
    }
    const param = { model_path: join(folder, `${kLargeModel}.rkllm`), max_context_len: kLargeContext };
    const server = await Server.start({ 'runtime.model_dirs': JSON.stringify([folder]), 'runtime.default_context': kContext,
      models: JSON.stringify({ [kLargeModel]: { param }, ...presets }), ...settings });
    return new Board(server, folder);
  }

  constructor(server, folder) {
    this.server = server;
    this.folder = folder;
    this.url = `http://127.0.0.1:${server.port('http')}`; // of Ollama's and Anthropic's clients
    this.openai_url = `${this.url}/v1`;
  }

  async stop() {
    await this.server.stop();
    await rm(this.folder, { recursive: true, force: true });
  }

  // Waits until a model has something to do, or nothing.
  until_busy(model, wanted = true) {
    return eventually(async () => {
      const slots = await (await fetch(`${this.url}/slots`)).json();
      return (slots.find((slot) => slot.model === model)?.is_processing ?? false) === wanted;
    });
  }
}

// A tool of a client: what it is called with, and what it gives.
export class Weather {
  static name = 'get_weather';
  static description = 'Tells the weather of a city.';
  static schema = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'], additionalProperties: false };
  static result = 'Sunny, 31 degrees.';

  asked = [];

  tell({ city }) {
    this.asked.push(city);
    return Weather.result;
  }
}

// A conversation in which the model calls the tool and then answers.
export const weather_story = (text) => saying(calling(Weather.name, { city: text }), `It is sunny in ${text}.`);
