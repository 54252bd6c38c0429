// The official clients, connected over any transport of the server: the same words for all of them.
import { describe } from 'node:test';

import { DatagramTransport } from './datagram_transport.mjs';
import { LineTransport } from './line_transport.mjs';
import { kProgram, kVersions, simulator_of } from './server.mjs';
import { V1Client } from './v1_client.mjs';
import { V2Client } from './v2_client.mjs';

const url = (server, port, path = '', scheme = 'http') => new URL(`${scheme}://127.0.0.1:${server.port(port)}${path}`);

const kTransportMakers = {
  stdio: ({ StdioClientTransport }, { place, library = simulator_of(kVersions.at(-1)) }) =>
    new StdioClientTransport({
      command: kProgram,
      args: ['stdio', '--library', library, '--settings', place.settings, '--log-level', 'warning',
        '--set', `runtime.cache_dir=${place.directory}`, '--set', 'memory.database=:memory:'],
      cwd: place.directory,
      stderr: 'ignore',
    }),
  http: (sdk, server) => new sdk.StreamableHTTPClientTransport(url(server, 'http', '/mcp')),
  'HTTP+SSE': (sdk, server) => new sdk.SSEClientTransport(url(server, 'http', '/sse')),
  ws: (sdk, server) => new sdk.WebSocketTransport(url(server, 'ws', '', 'ws')),
  'ws on the HTTP port': (sdk, server) => new sdk.WebSocketTransport(url(server, 'http', '/ws', 'ws')),
  tcp: (sdk, server) => new LineTransport({ host: '127.0.0.1', port: server.port('tcp') }, new sdk.ReadBuffer()),
  unix: (sdk, server) => new LineTransport({ path: server.unix_path }, new sdk.ReadBuffer()),
  udp: (sdk, server) => new DatagramTransport(server.port('udp')),
};

const kClientMakers = {
  v1: (info, options) => new V1Client(info, options),
  'v2-legacy': (info, options) => new V2Client(info, { ...options, mode: 'legacy' }),
  'v2-auto': (info, options) => new V2Client(info, { ...options, mode: 'auto' }),
  'v2-modern': (info, options) => new V2Client(info, { ...options, mode: { pin: '2026-07-28' } }),
};

export const kTransports = Object.keys(kTransportMakers);
export const kClients = Object.keys(kClientMakers);
// Those that speak of a handshake's revisions, and those of 2026-07-28.
export const kHandshakeClients = ['v1', 'v2-legacy'];
export const kStatelessClients = ['v2-auto', 'v2-modern'];

// Describes the same for each of the clients over each transport: body(client, kind). `at_once`: how many of them run
// side by side, where tests mostly wait.
export function describe_all(body, clients = kClients, at_once = 1) {
  describe('the official clients', { concurrency: at_once }, () => {
    for (const client of clients) {
      for (const kind of kTransports) describe(`${client} over ${kind}`, { concurrency: 1 }, () => body(client, kind));
    }
  });
}

// {client, transport, received, errors}: `received` collects every message as it came, before the SDK looks at it,
// `errors` what the SDK says of them beside its answers; not that its own requests were aborted.
// `client`: which of kClients; `revision`: ask for this protocol revision in place of the SDK's newest.
export const connect = (server, kind, { client = 'v1', ...options } = {}) =>
  connect_by(client, (sdk) => kTransportMakers[kind](sdk, server), options);

// The same over the transport that `make` makes of the SDK's classes.
export async function connect_by(name, make, { revision, ...options } = {}) {
  const client = kClientMakers[name]({ name: 'rkllm-mcp client test', version: '1' }, options);
  const transport = make(client.constructor.sdk);
  const received = [];
  const errors = [];
  transport.onmessage = (message) => received.push(message);
  client.onerror = ({ message }) => /aborted/.test(message) || errors.push(message);
  if (revision) {
    const send = transport.send.bind(transport);
    transport.send = (message, options) => {
      const asks = message.method === 'initialize';
      const params = asks ? { ...message.params, protocolVersion: revision } : message.params;
      return send(asks ? { ...message, params } : message, options);
    };
  }
  await client.connect(transport);
  return { client, transport, received, errors };
}

// All that a list has, page by page: list_all(client, 'listTools', 'tools').
export async function list_all(client, method, member) {
  const all = [];
  let cursor;
  do {
    const page = await client[method](cursor === undefined ? {} : { cursor });
    all.push(...page[member]);
    cursor = page.nextCursor;
  } while (cursor !== undefined);
  return all;
}

export const list_tools = (client) => list_all(client, 'listTools', 'tools');

// Calls a tool that must succeed; gives its structured content.
export async function call(client, name, args = {}, options = {}) {
  const result = await client.callTool({ name, arguments: args }, options);
  if (result.isError) throw new Error(`${name} failed: ${result.content[0].text}\n${JSON.stringify(args)}`);
  return result.structuredContent;
}
