// Codex, as a program: both transports in one run of it.
import { test } from 'node:test';

import { kCodex, kCodexArguments, set_up_codex, toml } from './support/agents.mjs';
import { make_home, Program } from './support/program.mjs';
import { with_board } from './support/with_board.mjs';

const name_of = (server) => (name) => `mcp__${server}.${name}`;
const story = [{ name_of: name_of('stdio') }, { name_of: name_of('http') }];

const name = kCodex ? 'Codex uses the board over stdio and HTTP' : 'npm has no Codex for this machine';
test(name, { skip: !kCodex }, () => with_board(story, async (place, model) => {
  const home = await make_home(place);
  await set_up_codex(home, model.url, 'scripted', `
[mcp_servers.stdio]
command = ${toml(place.stdio.command)}
args = ${toml(place.stdio.args)}
supports_parallel_tool_calls = true
startup_timeout_sec = 200

[mcp_servers.http]
url = ${toml(place.url)}
supports_parallel_tool_calls = true
startup_timeout_sec = 200
`);
  await new Program(kCodex, [...kCodexArguments, 'Use the board.'], home).end();
}));
