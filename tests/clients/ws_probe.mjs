// Probes a WebSocket server with the npm client `ws`, and with raw frames where `ws` would refuse to misbehave.
//
//   node ws_probe.mjs ws://127.0.0.1:8083
//
// Prints one line per failed claim and then "N passed, N failed"; exits with 1 if a claim failed. Every message is a
// direct call of the method CPU4, which needs neither a model nor a handle.
import crypto from 'node:crypto';
import net from 'node:net';
import { WebSocket } from 'ws';

const url = new URL(process.argv[2] ?? 'ws://127.0.0.1:8083');
const kPatienceMs = 60_000;

let passed = 0;
const failures = [];

async function claim(text, probe) {
  let timer;
  const late = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error('no answer in time')), kPatienceMs);
  });
  try {
    await Promise.race([probe(), late]);
    passed += 1;
  } catch (error) {
    failures.push(`${text}: ${error.message}`);
  } finally {
    clearTimeout(timer);
  }
}

function equal(actual, expected, what) {
  if (actual !== expected) throw new Error(`${what} is ${JSON.stringify(actual)}, not ${JSON.stringify(expected)}`);
}

// --- With `ws` ---------------------------------------------------------------------------------------------------------

function open(protocols = [], options = {}) {
  return new Promise((resolve, reject) => {
    const socket = new WebSocket(url, protocols, { perMessageDeflate: false, ...options });
    socket.waiting = new Map();
    socket.unasked = [];
    socket.on('message', (data) => {
      const reply = JSON.parse(data);
      (socket.waiting.get(reply.id) ?? ((r) => socket.unasked.push(r)))(reply);
    });
    socket.once('open', () => resolve(socket));
    socket.once('error', reject);
    socket.once('unexpected-response', (_, response) => {
      socket.terminate();
      reject(Object.assign(new Error(`status ${response.statusCode}`), { response }));
    });
  });
}

const call = (id, pad = '') => JSON.stringify({ jsonrpc: '2.0', id, method: 'CPU4', params: {} }) + pad;

function ask(socket, id, text = call(id), options = {}) {
  return new Promise((resolve) => {
    socket.waiting.set(id, resolve);
    if (text !== undefined) socket.send(text, options);
  });
}

const closed = (socket) => new Promise((resolve) => socket.once('close', (code, reason) => resolve({ code, reason })));

async function refusal(protocols, options) {
  try {
    const socket = await open(protocols, options);
    socket.terminate();
  } catch (error) {
    if (error.response) return error.response;
    throw error;
  }
  throw new Error('the handshake was accepted');
}

for (const bytes of [0, 60, 61, 125, 126, 1_000, 65_535, 65_536, 1_000_000]) {
  await claim(`a message with ${bytes} bytes of padding is answered`, async () => {
    const socket = await open();
    equal((await ask(socket, 1, call(1, ' '.repeat(bytes)))).result.value, 16, 'CPU4');
    socket.terminate();
  });
}

await claim('a thousand requests sent at once are all answered', async () => {
  const socket = await open();
  const ids = Array.from({ length: 1000 }, (_, id) => id);
  const replies = await Promise.all(ids.map((id) => ask(socket, id)));
  equal(replies.every((reply, id) => reply.id === id && reply.result.value === 16), true, 'every reply right');
  socket.terminate();
});

await claim('text in every script survives: a string id is echoed', async () => {
  const socket = await open();
  const id = 'Tiếng Việt, 中文, עברית, 😀';
  equal((await ask(socket, id)).id, id, 'the id');
  socket.terminate();
});

await claim('fragments with a ping between them are one message', async () => {
  const socket = await open();
  const pong = new Promise((resolve) => socket.once('pong', resolve));
  const text = call(7);
  const reply = ask(socket, 7, text.slice(0, 10), { fin: false });
  socket.ping('between');
  socket.send(text.slice(10, 20), { fin: false });
  socket.send(text.slice(20), { fin: true });
  equal(String(await pong), 'between', 'the pong');
  equal((await reply).result.value, 16, 'CPU4');
  socket.terminate();
});

await claim('subprotocol mcp is chosen if offered', async () => {
  const socket = await open(['chat', 'mcp']);
  equal(socket.protocol, 'mcp', 'the subprotocol');
  socket.terminate();
});

await claim('compression that is offered is not used', async () => {
  const socket = await open([], { perMessageDeflate: true });
  equal(socket.extensions, '', 'the extensions');
  equal((await ask(socket, 1)).result.value, 16, 'CPU4');
  socket.terminate();
});

for (const code of [1000, 1001, 4000]) {
  await claim(`close ${code} is echoed with its reason`, async () => {
    const socket = await open();
    const end = closed(socket);
    socket.close(code, 'because');
    const { code: echoed, reason } = await end;
    equal(echoed, code, 'the code');
    equal(String(reason), 'because', 'the reason');
  });
}

await claim('a binary message is closed with 1003', async () => {
  const socket = await open();
  const end = closed(socket);
  socket.send(Buffer.from(call(1)), { binary: true });
  equal((await end).code, 1003, 'the code');
});

await claim('version 8 is refused with 426 and told the right one', async () => {
  const response = await refusal([], { protocolVersion: 8 });
  equal(response.statusCode, 426, 'the status');
  equal(response.headers['sec-websocket-version'], '13', 'Sec-WebSocket-Version');
});

await claim('a foreign Origin is refused with 403', async () => {
  equal((await refusal([], { origin: 'http://evil.example' })).statusCode, 403, 'the status');
});

await claim('a loopback Origin is accepted', async () => {
  (await open([], { origin: 'http://localhost:5173' })).terminate();
});

// --- With raw frames -----------------------------------------------------------------------------------------------------

function frame(first, payload, { masked = true } = {}) {
  const body = Buffer.from(payload, 'latin1');
  const length = body.length < 126 ? [body.length] : [126, body.length >> 8, body.length & 0xff];
  if (!masked) return Buffer.concat([Buffer.from([first, ...length]), body]);
  const mask = crypto.randomBytes(4);
  length[0] |= 0x80;
  return Buffer.concat([Buffer.from([first, ...length]), mask, body.map((byte, at) => byte ^ mask[at % 4])]);
}

// Sends the frames and resolves with the code of the close frame that comes back before the connection ends.
function close_code_for(...frames) {
  return new Promise((resolve, reject) => {
    const socket = net.connect(Number(url.port), url.hostname);
    let received = Buffer.alloc(0);
    socket.on('error', reject);
    socket.write(
      `GET ${url.pathname} HTTP/1.1\r\nHost: ${url.host}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n` +
        `Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: ${crypto.randomBytes(16).toString('base64')}\r\n\r\n`,
    );
    socket.write(Buffer.concat(frames));
    socket.on('data', (data) => {
      received = Buffer.concat([received, data]);
    });
    socket.on('end', () => {
      socket.end();
      const frames_at = received.indexOf('\r\n\r\n') + 4;
      const answer = received.subarray(frames_at);
      if (answer[0] !== 0x88) return reject(new Error(`not a close frame: ${answer.toString('hex')}`));
      resolve(answer.length >= 4 ? answer.readUInt16BE(2) : 0);
    });
  });
}

const violations = [
  ['invalid UTF-8', 1007, frame(0x81, '"\xc3("')],
  ['invalid UTF-8 over two fragments', 1007, frame(0x01, '\xe2\x82'), frame(0x80, '(')],
  ['half a character at the end of a message', 1007, frame(0x81, '\xf0\x9f\x98')],
  ['an unmasked frame', 1002, frame(0x81, 'hi', { masked: false })],
  ['the first reserved bit', 1002, frame(0xc1, 'hi')],
  ['the second reserved bit', 1002, frame(0xa1, 'hi')],
  ['the third reserved bit', 1002, frame(0x91, 'hi')],
  ['an unknown opcode', 1002, frame(0x83, 'hi')],
  ['an unknown control opcode', 1002, frame(0x8b, 'hi')],
  ['a fragmented ping', 1002, frame(0x09, 'hi')],
  ['a ping of 126 bytes', 1002, frame(0x89, 'x'.repeat(126))],
  ['a continuation of nothing', 1002, frame(0x80, 'hi')],
  ['a message inside another', 1002, frame(0x01, 'one'), frame(0x81, 'two')],
  ['close code 1005 on the wire', 1002, frame(0x88, '\x03\xed')],
  ['close code 1006 on the wire', 1002, frame(0x88, '\x03\xee')],
  ['close code 999', 1002, frame(0x88, '\x03\xe7')],
  ['a close frame of one byte', 1002, frame(0x88, 'x')],
  ['a close reason that is not UTF-8', 1007, frame(0x88, '\x03\xe8\xff')],
];
for (const [what, code, ...frames] of violations) {
  await claim(`${what} is closed with ${code}`, async () => equal(await close_code_for(...frames), code, 'the code'));
}

await claim('a close frame without code is answered with one', async () => {
  equal(await close_code_for(frame(0x88, '')), 0, 'the code');
});

for (const failure of failures) console.log(`failed: ${failure}`);
console.log(`${passed} passed, ${failures.length} failed`);
process.exit(failures.length === 0 ? 0 : 1);
