// Codex, as a program: both transports in one run of it.
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { test } from 'node:test';

import { make_home, packaged, Program } from './support/program.mjs';
import { with_board } from './support/with_board.mjs';

const kMachine = { x64: 'x86_64', arm64: 'aarch64' }[process.arch];
const kPackage = packaged(`@openai/codex-linux-${process.arch}/package.json`);
const kProgram = kPackage && join(dirname(kPackage), 'vendor', `${kMachine}-unknown-linux-musl`, 'bin', 'codex');

const name_of = (server) => (name) => `mcp__${server}.${name}`;
const story = [{ name_of: name_of('stdio') }, { name_of: name_of('http') }];

const toml = (value) => JSON.stringify(value);

const name = kProgram ? 'Codex uses the board over stdio and HTTP' : 'npm has no Codex for this machine';
test(name, { skip: !kProgram }, () => with_board(story, async (place, model) => {
  const { home, work, environment } = await make_home(place);
  const settings = join(home, '.codex');
  await mkdir(settings);
  await writeFile(join(settings, 'config.toml'), `
model = "scripted"
model_provider = "scripted"
check_for_update_on_startup = false
web_search = "disabled"

[model_providers.scripted]
name = "scripted"
base_url = ${toml(`${model.url}/v1`)}
wire_api = "responses"
env_key = "SCRIPTED_KEY"

[mcp_servers.stdio]
command = ${toml(place.stdio.command)}
args = ${toml(place.stdio.args)}
supports_parallel_tool_calls = true
startup_timeout_sec = 200

[mcp_servers.http]
url = ${toml(place.url)}
supports_parallel_tool_calls = true
startup_timeout_sec = 200

[analytics]
enabled = false

[otel]
exporter = "none"
`);
  Object.assign(environment, { CODEX_HOME: settings, SCRIPTED_KEY: 'none' });
  await new Program(kProgram, ['exec', '--skip-git-repo-check', '--dangerously-bypass-approvals-and-sandbox', 'Use the board.'],
    { work, environment }).end();
}));
