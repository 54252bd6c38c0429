// Claude Code, as a program: both transports in one run of it. It carries out calls one after the other, so that a run is
// aborted as its users do it: they interrupt it, and go on.
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';

import { make_home, packaged, Program } from './support/program.mjs';
import { with_board } from './support/with_board.mjs';

const kProgram = packaged(`@anthropic-ai/claude-code-linux-${process.arch}/claude`);

const name_of = (server) => (name) => `mcp__${server}__${name}`;
const user_says = (content) => ({ type: 'user', message: { role: 'user', content } });

const name = kProgram ? 'Claude Code uses the board over stdio and HTTP' : 'npm has no Claude Code for this machine';
test(name, { skip: !kProgram }, () => {
  let program;
  const interrupt = () => {
    program.say({ type: 'control_request', request_id: 'interrupt-1', request: { subtype: 'interrupt' } });
    program.say(user_says('Go on.'));
  };
  const uses = [{ name_of: name_of('stdio'), at_once: false }, { name_of: name_of('http'), interrupt }];
  return with_board(uses, async (place, model) => {
    const { home, work, environment } = await make_home(place);
    const servers = join(home, 'servers.json');
    await writeFile(servers, JSON.stringify({ mcpServers: {
      stdio: { type: 'stdio', ...place.stdio },
      http: { type: 'http', url: place.url },
    } }));
    Object.assign(environment, {
      ANTHROPIC_BASE_URL: model.url, ANTHROPIC_API_KEY: 'none', CLAUDE_CONFIG_DIR: join(home, '.claude'),
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1', DISABLE_AUTOUPDATER: '1', DISABLE_TELEMETRY: '1',
      DISABLE_ERROR_REPORTING: '1', ENABLE_TOOL_SEARCH: 'false', MCP_TIMEOUT: '200000',
    });
    program = new Program(kProgram, ['-p', '--input-format', 'stream-json', '--output-format', 'stream-json', '--verbose',
      '--mcp-config', servers, '--strict-mcp-config', '--allowedTools', 'mcp__stdio mcp__http'], { work, environment });
    program.say(user_says('Use the board.'));
    await Promise.race([model.ended, program.ended]);
    await program.end();
  });
});
