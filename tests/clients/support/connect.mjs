// The official SDK's client, connected over any transport of the server.
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { WebSocketClientTransport } from '@modelcontextprotocol/sdk/client/websocket.js';
import { WebSocket } from 'ws';

import { DatagramTransport } from './datagram_transport.mjs';
import { LineTransport } from './line_transport.mjs';
import { kProgram } from './server.mjs';

globalThis.WebSocket = WebSocket; // what the SDK's transport uses; Node 18 and 20 have none of their own

const kMakers = {
  stdio: ({ place }) =>
    new StdioClientTransport({
      command: kProgram,
      args: ['stdio', '--simulator', '--settings', place.settings, '--log-level', 'warning',
        '--set', `runtime.cache_dir=${place.directory}`],
      cwd: place.directory,
      stderr: 'ignore',
    }),
  http: (server) => new StreamableHTTPClientTransport(new URL(`http://127.0.0.1:${server.port('http')}/mcp`)),
  ws: (server) => new WebSocketClientTransport(new URL(`ws://127.0.0.1:${server.port('ws')}`)),
  'ws on the HTTP port': (server) => new WebSocketClientTransport(new URL(`ws://127.0.0.1:${server.port('http')}/ws`)),
  tcp: (server) => new LineTransport(server.port('tcp')),
  udp: (server) => new DatagramTransport(server.port('udp')),
};

export const kTransports = Object.keys(kMakers);

// {client, transport, received}: `received` collects every message as it came, before the SDK looks at it.
// `revision`: ask for this protocol revision in place of the SDK's newest.
export async function connect(server, kind, { revision } = {}) {
  const transport = kMakers[kind](server);
  const received = [];
  transport.onmessage = (message) => received.push(message);
  if (revision) {
    const send = transport.send.bind(transport);
    transport.send = (message, options) => {
      const asks = message.method === 'initialize';
      const params = asks ? { ...message.params, protocolVersion: revision } : message.params;
      return send(asks ? { ...message, params } : message, options);
    };
  }
  const client = new Client({ name: 'rkllm-mcp client test', version: '1' });
  await client.connect(transport);
  return { client, transport, received };
}

// The whole list of tools, page by page: {tools, pages}.
export async function list_tools(client) {
  const tools = [];
  let pages = 0;
  let cursor;
  do {
    const page = await client.listTools(cursor === undefined ? {} : { cursor });
    tools.push(...page.tools);
    pages += 1;
    cursor = page.nextCursor;
  } while (cursor !== undefined);
  return { tools, pages };
}

// Calls a tool that must succeed; gives its structured content.
export async function call(client, name, args = {}, options = {}) {
  const result = await client.callTool({ name, arguments: args }, undefined, options);
  if (result.isError) throw new Error(`${name} failed: ${result.content[0].text}\n${JSON.stringify(args)}`);
  return result.structuredContent;
}
