// Claude Code, Codex and opencode, as programs, with the board as their model: they end with its answer, or, where its context is too
// short for what they say to a model by themselves, with an error that says so.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';

import {
  kClaudeCode, kCodex, kCodexArguments, kOpencode, set_up_claude_code, set_up_codex, set_up_opencode,
} from '../hosts/support/agents.mjs';
import { make_home, Program } from '../hosts/support/program.mjs';
import { Board, kContext, kLargeContext, kLargeModel, kModel, saying } from './support/board.mjs';

let board;
before(async () => { board = await Board.start(); });
after(() => board.stop());

let homes = 0;
const new_home = () => make_home({ directory: `${board.folder}/${++homes}` });

async function claude_code(model, question) {
  const home = await new_home();
  set_up_claude_code(home, board.url);
  return new Program(kClaudeCode, ['-p', '--model', model, question], home);
}

async function codex(model, question) {
  const home = await new_home();
  await set_up_codex(home, board.url, model);
  return new Program(kCodex, [...kCodexArguments, question], home);
}

// Reads the question from its input: what stands in its arguments it puts into quotes.
async function opencode(model, question) {
  const home = await new_home();
  await set_up_opencode(home, board.url, model, model === kLargeModel ? kLargeContext : kContext);
  const agent = new Program(kOpencode, ['run'], home);
  agent.child.stdin.write(question);
  return agent;
}

const kAgents = { 'Claude Code': [kClaudeCode, claude_code], Codex: [kCodex, codex], opencode: [kOpencode, opencode] };
for (const [name, [program, start]] of Object.entries(kAgents)) {
  test(program ? `${name} gets the board's answer` : `npm has no ${name} for this machine`, { skip: !program }, async () => {
    const agent = await start(kLargeModel, `Say it.\n${saying('Greetings from the board.')}`);
    await agent.end();
    assert.match(agent.said, /^Greetings from the board\.$/m);
  });

  test(`${name} says that the context is too short`, { skip: !program }, async () => {
    const agent = await start(kModel, 'Say it.');
    agent.child.stdin.end();
    assert.notEqual(await agent.ended, 0, agent.said);
    assert.match(agent.said, /^Prompt is too long|^ERROR: .*context window|prompt is too long: .*context length/m);
  });
}
