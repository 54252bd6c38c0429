// The one place that talks to the server: its own address, nothing else.
import { keep, kept, make_store } from './store.js';

const kTokenKey = 'rkllm.access_token'; // in sessionStorage: this tab, until it is closed

// `needed`: the server has refused us. `refused`: with an access token, which is then a wrong one. `origin_refused`: it
// takes no calls from a page that was opened under this name.
export const access = make_store({ token: kept('sessionStorage', kTokenKey) ?? '', needed: false, refused: false, asking: false, origin_refused: false });

// Takes an access token ('': none) from now on, and asks the server whether it is right: `access` then says so.
export async function set_access_token(token) {
  keep('sessionStorage', kTokenKey, token || null);
  access.set({ token, needed: false, refused: false });
  await ask('/metrics').then(() => access.set({ asking: false }), () => {});
}

// What the server, or the way to it, has said no to.
export class Refusal extends Error {
  constructor(status, message) {
    super(message);
    this.status = status; // 0: nobody answered
  }
}

// The words of an error in any of the server's forms.
function words_of(text, status) {
  try {
    const body = JSON.parse(text);
    const error = body.error ?? body;
    if (typeof error === 'string') return error;
    if (error?.message) return error.message;
  } catch {
    // plain text
  }
  return text.trim().slice(0, 500) || `HTTP ${status}`;
}

// Throws Refusal unless the status is 2xx. `options` are those of fetch().
export async function ask(path, options = {}) {
  const { token } = access.get();
  const headers = { ...options.headers };
  if (token) headers.Authorization = `Bearer ${token}`;
  let response;
  try {
    response = await fetch(path, { cache: 'no-store', credentials: 'omit', ...options, headers });
  } catch (error) {
    if (error.name === 'AbortError') throw error;
    throw new Refusal(0, 'The server does not answer.');
  }
  if (response.ok) return response;
  const message = words_of(await response.text(), response.status);
  if (response.status === 401 && token === access.get().token) {
    access.set({ needed: true, refused: token !== '', asking: true });
  }
  if (response.status === 403 && message.includes('Origin')) access.set({ origin_refused: true });
  throw new Refusal(response.status, message);
}

export const get_json = async (path) => (await ask(path)).json();
export const get_text = async (path) => (await ask(path)).text();

export const post = (path, body, options = {}) =>
  ask(path, { method: 'POST', body: JSON.stringify(body), ...options, headers: { 'Content-Type': 'application/json', ...options.headers } });

let last_id = 0;

function result_of(answer) {
  if (answer.error) throw new Refusal(200, answer.error.message);
  return answer.result;
}

// A method of the direct dialect.
export async function call(method, params = {}) {
  const response = await post('/jsonrpc', { jsonrpc: '2.0', id: ++last_id, method, params });
  return result_of(await response.json());
}

const kRevision = '2026-07-28'; // each request stands for itself, and ends when we disconnect

// What a header cannot carry as it is.
function header_text(text) {
  if (/^[\x21-\x7e]([\x20-\x7e]*[\x21-\x7e])?$/.test(text) && !text.startsWith('=?')) return text;
  return `=?base64?${btoa(String.fromCharCode(...new TextEncoder().encode(text)))}?=`;
}

// A request of the Model Context Protocol. `name`: of the tool, or the address of the resource.
export async function mcp(method, params = {}, { name, signal } = {}) {
  const prefix = 'io.modelcontextprotocol/';
  const _meta = {
    [`${prefix}protocolVersion`]: kRevision,
    [`${prefix}clientCapabilities`]: {},
    [`${prefix}clientInfo`]: { name: 'rkllm-mcp page', version: '1' },
  };
  const headers = { Accept: 'application/json', 'MCP-Protocol-Version': kRevision, 'Mcp-Method': method };
  if (name !== undefined) headers['Mcp-Name'] = header_text(name);
  const body = { jsonrpc: '2.0', id: ++last_id, method, params: { ...params, _meta } };
  return result_of(await (await post('/mcp', body, { headers, signal })).json());
}

// The events of an answer in pieces; `on_event` gets the data of each, parsed.
export async function read_events(response, on_event) {
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = '';
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    rest += value;
    const lines = rest.split('\n');
    rest = lines.pop();
    for (const line of lines) {
      if (!line.startsWith('data: ') || line.startsWith('data: [DONE]')) continue;
      on_event(JSON.parse(line.slice(6)));
    }
  }
}
