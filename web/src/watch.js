// What the server is asked for again and again while the page is visible: its health, its models, its metrics.
import { access, get_json, get_text, mcp } from './server.js';
import { make_store } from './store.js';

const kPeriod = 2000; // ms
const kKeptSamples = 300; // ten minutes

export const server = make_store({ health: null, answers: true, models: null });
// Columns of the plots: time (s) and four rows of measured values, null where nothing was measured.
export const samples = make_store({ at: [], tokens: [], first: [], load: [], temperature: [] });
export const handles = make_store({ list: null });
export const runtime = make_store({ facts: null });

export const is_simulated = (health) => health?.runtime?.simulated === true;
export const has_memory = (health) => health?.services?.['memory-server']?.state === 'ready';

// {name: [{labels, value}]} of Prometheus's text.
export function metrics_in(text) {
  const families = {};
  for (const line of text.split('\n')) {
    const match = /^([a-z_]+)(?:\{(.*)\})? (\S+)$/.exec(line);
    if (match) (families[match[1]] ??= []).push({ labels: match[2] ?? '', value: Number(match[3]) });
  }
  return families;
}

const only = (family) => family?.[0]?.value ?? null;

let before = null;

function add_sample(families) {
  const now = {
    at: Date.now() / 1000,
    tokens: only(families.rkllm_mcp_tokens_total),
    sum: only(families.rkllm_mcp_turn_time_to_first_token_seconds_sum),
    count: only(families.rkllm_mcp_turn_time_to_first_token_seconds_count),
  };
  const cores = families.rkllm_mcp_npu_load_ratio;
  const since = before;
  const restarted = since && now.tokens < since.tokens;
  before = now;
  if (!since || restarted) return;
  const first = now.count > since.count ? (now.sum - since.sum) / (now.count - since.count) : null;
  const row = {
    at: now.at,
    tokens: now.tokens === null ? null : (now.tokens - since.tokens) / (now.at - since.at),
    first,
    load: cores ? (100 * cores.reduce((sum, core) => sum + core.value, 0)) / cores.length : null,
    temperature: only(families.rkllm_mcp_npu_temperature_celsius),
  };
  const columns = samples.get();
  samples.set(Object.fromEntries(Object.keys(columns).map((name) => [name, [...columns[name], row[name]].slice(-kKeptSamples)])));
}

export async function refresh_models() {
  const list = await get_json('/v1/models');
  server.set({ models: list.data });
}

export async function refresh_handles() {
  const read = await mcp('resources/read', { uri: 'rkllm://handles' }, { name: 'rkllm://handles' });
  handles.set({ list: JSON.parse(read.contents[0].text).handles });
}

export async function read_runtime() {
  const read = await mcp('resources/read', { uri: 'rkllm://runtime' }, { name: 'rkllm://runtime' });
  runtime.set({ facts: JSON.parse(read.contents[0].text) });
}

// Each part of the page that shows more than the health asks for it while it is there: at once, and when the health has
// changed, since the server writes these requests into its log; `always`: each time.
const extra = new Map();
export function also_watch(refresh, always = false) {
  extra.set(refresh, always);
  refresh().catch(() => {});
  return () => extra.delete(refresh);
}

let state_before = '';

// Whether something moves that only those requests tell.
function has_moved(health) {
  const state = JSON.stringify(health.models ?? null);
  const moved = state !== state_before;
  state_before = state;
  return moved || (health.models ?? []).some(({ queued }) => queued > 0) || (server.get().models ?? []).some(({ rkllm }) => rkllm?.state === 'loading');
}

async function look() {
  if (document.visibilityState !== 'visible' || access.get().needed) return;
  try {
    const [health, metrics] = await Promise.all([get_json('/health'), get_text('/metrics')]);
    const came = server.get().health === null || !server.get().answers;
    server.set({ health, answers: true });
    add_sample(metrics_in(metrics));
    if (came) await refresh_models();
    const moved = has_moved(health);
    await Promise.all([...extra].map(([refresh, always]) => (moved || always) && refresh().catch(() => {})));
  } catch (refusal) {
    if (refusal.status === 0) server.set({ answers: false });
  }
}

export function begin_watching() {
  const again = async () => {
    await look();
    setTimeout(again, kPeriod);
  };
  again();
  document.addEventListener('visibilitychange', look);
  access.listen(({ needed }) => {
    if (!needed && server.get().health === null) look();
  });
}
