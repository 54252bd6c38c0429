// A model that follows a script, behind every protocol by which hosts ask a model: one HTTP server on the loopback.
//
// The script is an async function of the model's side of the conversation. It waits for the host to ask, answers with
// calls of tools, gets what the host hands back, and so on:
//
//   const model = await ScriptedModel.start(async (model) => {
//     const tools = await model.tools();
//     const [answer] = await model.call(['rkllm_init', {...}]);
//     return 'what the model says at last';
//   });
//
// What a host asks beside the conversation (a title, a summary: without the tools that matter) is answered with "ok".
import { once } from 'node:events';
import { createServer } from 'node:http';

import { anthropic } from './wire/anthropic.mjs';
import { send_json } from './wire/events.mjs';
import { gemini } from './wire/gemini.mjs';
import { openai_chat } from './wire/openai_chat.mjs';
import { openai_responses } from './wire/openai_responses.mjs';

const kDialects = [openai_chat, openai_responses, anthropic, gemini];

export class ScriptedModel {
  // `matters` says of a tool's name whether the script is about it.
  static async start(script, matters = (name) => name.includes('rkllm_')) {
    const model = new ScriptedModel(matters);
    await once(model.#server.listen(0, '127.0.0.1'), 'listening');
    model.#play(script);
    return model;
  }

  // Everything that was asked, for a look when a test fails: `${method} ${path}`, and what was made of it.
  requests = [];

  #matters;
  #server = createServer((request, response) => this.#serve(request, response));
  #waiting = []; // of the script, for the host's next request with all the results that it wants
  #exchange; // the request that the script's next turn will answer: {asked, answer}
  #turn; // the turn that the host got last: {calls} or {text}
  #calls = 0;
  #told; // resolves #ended
  // The script's error, or undefined when it came to its end.
  ended = new Promise((resolve) => { this.#told = resolve; });

  constructor(matters) {
    this.#matters = matters;
  }

  get url() {
    return `http://127.0.0.1:${this.#server.address().port}`;
  }

  stop() {
    this.#server.closeAllConnections();
    this.#server.close();
  }

  // --- for the script -----------------------------------------------------------------------------------------------

  // The tools that the host offers, by the names that it gives them: Map of {description, schema}.
  async tools() {
    this.#exchange ??= await this.#next_exchange();
    return this.#exchange.asked.tools;
  }

  // Calls tools, all in one turn: [name, arguments] each. Gives the texts of their results, in the same order.
  async call(...calls) {
    const made = calls.map(([name, args]) => ({ id: `call_${++this.#calls}`, name, args }));
    await this.#answer({ calls: made });
    this.#exchange = await this.#next_exchange();
    return made.map((call) => result_of(call, this.#exchange.asked.results));
  }

  // --- the host's side ----------------------------------------------------------------------------------------------

  async #play(script) {
    let error;
    let text;
    try {
      text = await script(this);
    } catch (caught) {
      error = caught;
      text = `The script failed: ${caught.message}`;
    }
    await this.#answer({ text });
    this.#told(error);
  }

  async #answer(turn) {
    const { answer } = this.#exchange ?? await this.#next_exchange();
    this.#turn = turn;
    this.#exchange = undefined;
    answer(turn);
  }

  #next_exchange() {
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  async #serve(request, response) {
    const { pathname } = new URL(request.url, this.url);
    const note = { request: `${request.method} ${request.url}` };
    this.requests.push(note);
    const chunks = await request.toArray();
    const dialect = kDialects.find(({ path }) => path.test(pathname));
    if (request.method !== 'POST' || !dialect) return serve_beside(pathname, request.method, response);
    const body = JSON.parse(Buffer.concat(chunks).toString());
    note.body = body;
    const beside = dialect.answer_beside?.(pathname);
    if (beside) return send_json(response, beside);

    const asked = dialect.read(body);
    const answer = (turn) => {
      note.turn = turn;
      dialect.write(turn, body, response, pathname);
    };
    if (![...asked.tools.keys()].some(this.#matters)) return answer({ text: 'ok' });
    const wanted = this.#turn?.calls ?? [];
    if (this.#turn?.text !== undefined || !wanted.every((call) => result_of(call, asked.results) !== undefined)) {
      if (this.#turn) return answer(this.#turn); // asked again
    }
    const resolve = this.#waiting.shift();
    if (resolve) resolve({ asked, answer });
    else this.#exchange = { asked, answer };
  }
}

// Some hosts give calls ids of their own, and results back in the order of the calls.
function result_of({ id, name }, results) {
  const result = results.findLast((result) => result.id === id) ??
    results.findLast((result) => result.id === undefined && result.name === name);
  return result?.text;
}

function serve_beside(path, method, response) {
  if (method === 'HEAD') return response.writeHead(200).end();
  if (/\/models$/.test(path)) return send_json(response, { object: 'list', data: [], models: [] });
  send_json(response, { error: { message: `this model does not know ${method} ${path}` } }, 404);
}
