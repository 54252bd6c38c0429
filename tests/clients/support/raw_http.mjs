// HTTP without an SDK: what a client of either era sends to /mcp, and the events that it reads.
import { EventSourceParserStream } from 'eventsource-parser/stream';

const kBoth = 'application/json, text/event-stream';
const kStateless = '2026-07-28';

// {status, headers, json, text, events, abort}: `events` yields {id, data} as they come, `abort` ends the connection.
export class Exchange {
  static async open(url, init = {}) {
    const abort = new AbortController();
    const response = await fetch(url, { ...init, signal: abort.signal });
    return new Exchange(response, abort);
  }

  constructor(response, abort) {
    this.status = response.status;
    this.headers = response.headers;
    this.response = response;
    this.abort = () => abort.abort();
  }

  get is_stream() {
    return this.headers.get('content-type') === 'text/event-stream';
  }

  json() {
    return this.response.json();
  }

  async *events() {
    if (!this.is_stream) throw new Error(`not a stream: ${this.status} ${await this.response.text()}`);
    const parsed = this.response.body.pipeThrough(new TextDecoderStream()).pipeThrough(new EventSourceParserStream());
    for await (const { id, event, data } of parsed) {
      yield { id, event, message: event === 'endpoint' || data === '' ? data : JSON.parse(data) };
    }
  }

  async all_events() {
    const all = [];
    for await (const event of this.events()) all.push(event);
    return all;
  }
}

// A session of the handshake era, shaken hands.
export class RawSession {
  static async open(url, revision) {
    const session = new RawSession(url, revision);
    const params = { protocolVersion: revision, capabilities: {}, clientInfo: { name: 'raw', version: '1' } };
    const answer = await session.post({ jsonrpc: '2.0', id: 0, method: 'initialize', params });
    session.id = answer.headers.get('mcp-session-id');
    await session.post({ jsonrpc: '2.0', method: 'notifications/initialized' });
    return session;
  }

  constructor(url, revision) {
    this.url = url;
    this.revision = revision;
    this.next_id = 1;
  }

  headers(more) {
    return {
      Accept: kBoth,
      'Content-Type': 'application/json',
      ...(this.id && { 'Mcp-Session-Id': this.id }),
      ...(this.id && this.revision >= '2025-06-18' && { 'MCP-Protocol-Version': this.revision }),
      ...more,
    };
  }

  post(body, headers) {
    return Exchange.open(this.url, { method: 'POST', headers: this.headers(headers), body: JSON.stringify(body) });
  }
  request(method, params, headers) {
    return this.post({ jsonrpc: '2.0', id: this.next_id++, method, params }, headers);
  }
  get(headers) {
    return Exchange.open(this.url, { headers: this.headers({ Accept: 'text/event-stream', ...headers }) });
  }
  delete() {
    return Exchange.open(this.url, { method: 'DELETE', headers: this.headers() });
  }

  // Calls a tool that must succeed and is answered at once.
  async call(name, args = {}) {
    const { result, error } = await (await this.request('tools/call', { name, arguments: args })).json();
    if (error || result.isError) throw new Error(JSON.stringify(error ?? result));
    return result.structuredContent;
  }
}

export const stateless_meta = (more = {}, revision = kStateless) => ({
  'io.modelcontextprotocol/protocolVersion': revision,
  'io.modelcontextprotocol/clientInfo': { name: 'raw', version: '1' },
  'io.modelcontextprotocol/clientCapabilities': {},
  ...more,
});

// {headers, message} of a request in the stateless era, which agree.
export function stateless_request(method, { _meta, ...params } = {}, id = 1) {
  const name = params.name ?? params.uri ?? params.taskId;
  return {
    headers: {
      Accept: kBoth,
      'Content-Type': 'application/json',
      'MCP-Protocol-Version': kStateless,
      'Mcp-Method': method,
      ...(name !== undefined && { 'Mcp-Name': name }),
    },
    message: { jsonrpc: '2.0', id, method, params: { ...params, _meta: stateless_meta(_meta) } },
  };
}

export const post_stateless = (url, { headers, message }) =>
  Exchange.open(url, { method: 'POST', headers, body: JSON.stringify(message) });
