// ws_probe.mjs against both WebSocket addresses of the real server.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';

import { ended, Server } from './support/server.mjs';

const kProbe = fileURLToPath(new URL('ws_probe.mjs', import.meta.url));

let server;
before(async () => {
  server = await Server.start();
});
after(() => server.stop());

async function probe(url) {
  const child = spawn(process.execPath, [kProbe, url]);
  let report = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text) => {
      report += text;
    });
  }
  const { code } = await ended(child);
  assert.equal(code, 0, report);
  assert.match(report, /^[1-9]\d* passed, 0 failed$/m);
}

test('the WebSocket port', () => probe(`ws://127.0.0.1:${server.port('ws')}`));

test('the path /ws of the HTTP port', () => probe(`ws://127.0.0.1:${server.port('http')}/ws`));
