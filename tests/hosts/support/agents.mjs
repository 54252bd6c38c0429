// Claude Code and Codex: where their programs are, and what keeps them at home, silent, and with a model of the test's choice.
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';

import { packaged } from './program.mjs';

// Undefined if npm has none for this machine.
export const kClaudeCode = packaged(`@anthropic-ai/claude-code-linux-${process.arch}/claude`);

const kMachine = { x64: 'x86_64', arm64: 'aarch64' }[process.arch];
const kPackage = packaged(`@openai/codex-linux-${process.arch}/package.json`);
export const kCodex = kPackage && join(dirname(kPackage), 'vendor', `${kMachine}-unknown-linux-musl`, 'bin', 'codex');

// Its model is asked at `url`, by Anthropic's messages.
export function set_up_claude_code({ home, environment }, url) {
  Object.assign(environment, {
    ANTHROPIC_BASE_URL: url, ANTHROPIC_API_KEY: 'none', CLAUDE_CONFIG_DIR: join(home, '.claude'),
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1', DISABLE_AUTOUPDATER: '1', DISABLE_TELEMETRY: '1',
    DISABLE_ERROR_REPORTING: '1', ENABLE_TOOL_SEARCH: 'false', MCP_TIMEOUT: '200000',
  });
}

export const toml = (value) => JSON.stringify(value);

// Its model is asked at `url`, by OpenAI's responses. `more`: lines of its settings.
export async function set_up_codex({ home, environment }, url, model, more = '') {
  const settings = join(home, '.codex');
  await mkdir(settings);
  await writeFile(join(settings, 'config.toml'), `
model = ${toml(model)}
model_provider = "tested"
check_for_update_on_startup = false
web_search = "disabled"

[model_providers.tested]
name = "tested"
base_url = ${toml(`${url}/v1`)}
wire_api = "responses"
env_key = "TESTED_KEY"
${more}
[analytics]
enabled = false

[otel]
exporter = "none"
`);
  Object.assign(environment, { CODEX_HOME: settings, TESTED_KEY: 'none' });
}

export const kCodexArguments = ['exec', '--skip-git-repo-check', '--dangerously-bypass-approvals-and-sandbox'];
