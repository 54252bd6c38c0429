// Claude Code, Codex and opencode: where their programs are, and what keeps them at home, silent, and with a model of the test's choice.
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';

import { packaged } from './program.mjs';

// Undefined if npm has none for this machine.
export const kClaudeCode = packaged(`@anthropic-ai/claude-code-linux-${process.arch}/claude`);

const kMachine = { x64: 'x86_64', arm64: 'aarch64' }[process.arch];
const kPackage = packaged(`@openai/codex-linux-${process.arch}/package.json`);
export const kCodex = kPackage && join(dirname(kPackage), 'vendor', `${kMachine}-unknown-linux-musl`, 'bin', 'codex');

export const kOpencode = packaged(`opencode-linux-${process.arch}/bin/opencode`);

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

// Its model is asked at `url`, by OpenAI's chat completions.
export async function set_up_opencode({ home, environment }, url, model, context) {
  const settings = join(home, '.config', 'opencode');
  await mkdir(settings, { recursive: true });
  const name = `board/${model}`;
  await writeFile(join(settings, 'opencode.json'), JSON.stringify({
    provider: { board: { npm: '@ai-sdk/openai-compatible', options: { baseURL: `${url}/v1`, apiKey: 'none' },
      models: { [model]: { limit: { context, output: 1024 } } } } },
    model: name, small_model: name, autoupdate: false, share: 'disabled', compaction: { auto: false },
  }));
  Object.assign(environment, { OPENCODE_DISABLE_AUTOUPDATE: '1', OPENCODE_DISABLE_MODELS_FETCH: '1', OPENCODE_DISABLE_LSP_DOWNLOAD: '1' });
}

export const kCodexArguments = ['exec', '--skip-git-repo-check', '--dangerously-bypass-approvals-and-sandbox'];
