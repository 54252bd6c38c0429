// Claude Code, as a program: both transports in one run of it. It carries out calls one after the other, so that a run is
// aborted as its users do it: they interrupt it, and go on.
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';

import { kClaudeCode, set_up_claude_code } from './support/agents.mjs';
import { make_home, Program } from './support/program.mjs';
import { with_board } from './support/with_board.mjs';

const name_of = (server) => (name) => `mcp__${server}__${name}`;
const user_says = (content) => ({ type: 'user', message: { role: 'user', content } });

const name = kClaudeCode ? 'Claude Code uses the board over stdio and HTTP' : 'npm has no Claude Code for this machine';
test(name, { skip: !kClaudeCode }, () => {
  let program;
  const interrupt = () => {
    program.say({ type: 'control_request', request_id: 'interrupt-1', request: { subtype: 'interrupt' } });
    program.say(user_says('Go on.'));
  };
  const uses = [{ name_of: name_of('stdio'), at_once: false }, { name_of: name_of('http'), interrupt }];
  return with_board(uses, async (place, model) => {
    const home = await make_home(place);
    const servers = join(home.home, 'servers.json');
    await writeFile(servers, JSON.stringify({ mcpServers: {
      stdio: { type: 'stdio', ...place.stdio },
      http: { type: 'http', url: place.url },
    } }));
    set_up_claude_code(home, model.url);
    program = new Program(kClaudeCode, ['-p', '--input-format', 'stream-json', '--output-format', 'stream-json', '--verbose',
      '--mcp-config', servers, '--strict-mcp-config', '--allowedTools', 'mcp__stdio mcp__http'], home);
    program.say(user_says('Use the board.'));
    await Promise.race([model.ended, program.ended]);
    await program.end();
  });
});
