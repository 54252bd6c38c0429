// Gemini CLI, as a program: both transports in one run of it.
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { test } from 'node:test';

import { make_home, packaged, Program } from './support/program.mjs';
import { with_board } from './support/with_board.mjs';

const kProgram = join(dirname(packaged('@google/gemini-cli/package.json')), 'bundle', 'gemini.js');

const name_of = (server) => (name) => `mcp_${server}_${name}`;
const beside = { wait_for_previous: false }; // Gemini CLI's own argument, of every tool
const story = [{ name_of: name_of('stdio') }, { name_of: name_of('http'), beside }];

test('Gemini CLI uses the board over stdio and HTTP', () => with_board(story, async (place, model) => {
  const { home, work, environment } = await make_home(place);
  await mkdir(join(home, '.gemini'));
  await writeFile(join(home, '.gemini', 'settings.json'), JSON.stringify({
    general: { enableAutoUpdate: false, enableAutoUpdateNotification: false },
    privacy: { usageStatisticsEnabled: false },
    telemetry: { enabled: false },
    security: { auth: { selectedType: 'gemini-api-key' } },
    model: { name: 'gemini-2.5-flash' },
    mcpServers: { stdio: { ...place.stdio, trust: true }, http: { httpUrl: place.url, trust: true } },
  }));
  Object.assign(environment, {
    GOOGLE_GEMINI_BASE_URL: model.url, GEMINI_API_KEY: 'none', GEMINI_CLI_TRUST_WORKSPACE: 'true',
    GEMINI_CLI_NO_RELAUNCH: 'true', GEMINI_CLI_HOME: home,
  });
  await new Program(process.execPath, [kProgram, '--approval-mode', 'yolo', '-p', 'Use the board.'], { work, environment }).end();
}));
