// The models: which there are, which are loaded; loading and unloading.
import { useEffect, useState } from 'preact/hooks';

import { html } from './html.js';
import { call, post } from './server.js';
import { use_store } from './store.js';
import { also_watch, handles, is_simulated, refresh_handles, refresh_models, server } from './watch.js';
import { bytes, number, t } from './words.js';

const load = (model) => post('/api/chat', { model, messages: [], stream: false });
// One that rkllm_init has loaded is unloaded by its handle; the others by their name.
const unload = (model, handle) =>
  handle && !handle.model ? call('rkllm_destroy', { handle: handle.id }) : post('/api/chat', { model, messages: [], keep_alive: 0, stream: false });

function Loading({ progress }) {
  const known = progress?.bytes != null && progress?.total;
  return html`<progress aria-label=${t('state_loading')} ...${known ? { value: progress.bytes, max: progress.total } : {}} />
    ${known && html`<small>${t('loading_bytes', { read: bytes(progress.bytes), total: bytes(progress.total) })}</small>`}`;
}

// One button in two states, which keeps the focus, also while it can do nothing.
function LoadOrUnload({ name, loaded, idle, onClick }) {
  const word = t(loaded ? 'unload' : 'load');
  return html`<button type="button" aria-disabled=${!idle} aria-label=${`${word}: ${name}`} onClick=${() => idle && onClick()}>${word}</button>`;
}

function Model({ model, handle, act, busy }) {
  const own = model.rkllm ?? {};
  const memory = handle?.last_perf?.memory_usage_mb;
  const context = own.context ?? handle?.created_with?.param?.max_context_len;
  const name = model.id;
  const loaded = own.state === 'loaded';
  return html`<li class="card">
    <h2>${name}</h2>
    <dl>
      <dt>${t('state')}</dt><dd>${t(`state_${own.state}`)}${own.state === 'loading' && html`<${Loading} progress=${own.loading} />`}</dd>
      <dt>${t('context')}</dt><dd>${context == null ? t('unknown') : t('context_tokens', { n: number(context) })}</dd>
      <dt>${t('size')}</dt><dd>${bytes(own.bytes)}</dd>
      <dt>${t('memory')}</dt><dd>${memory == null ? t('unknown') : t('memory_of_run', { n: number(memory) })}</dd>
      <dt>${t('platform')}</dt><dd>${own.platform ?? t('unknown')}</dd>
      ${handle && html`<dt>${t('handle')}</dt><dd>${handle.id}</dd>`}
    </dl>
    <${LoadOrUnload} name=${name} loaded=${loaded} idle=${!busy && (loaded || own.state === 'on_disk')}
      onClick=${() => (loaded ? act(name, () => unload(name, handle), 'unload_done') : act(name, () => load(name), 'load_done'))} />
  </li>`;
}

export function ModelsView() {
  const { models, health } = use_store(server);
  const { list } = use_store(handles);
  const [busy, set_busy] = useState([]);
  const [said, set_said] = useState({ text: '', bad: false });
  useEffect(() => also_watch(() => Promise.all([refresh_models(), refresh_handles()])), []);
  const act = async (name, action, done) => {
    set_busy((names) => [...names, name]);
    setTimeout(() => refresh_models().catch(() => {}), 300); // by then it says that it is being loaded
    try {
      await action();
      set_said({ text: t(done, { model: name }), bad: false });
    } catch (refusal) {
      set_said({ text: refusal.message, bad: true });
    }
    set_busy((names) => names.filter((each) => each !== name));
    await Promise.all([refresh_models(), refresh_handles()]).catch(() => {});
  };
  const handle_of = ({ rkllm }) => list?.find(({ id }) => id === rkllm?.handle);
  return html`<section aria-labelledby="title">
    <h1 id="title">${t('models')}</h1>
    <p class=${said.bad ? 'warning' : 'said'} role="status">${said.text}</p>
    ${models?.length === 0 && is_simulated(health) && html`<p>${t('no_simulated_models')}</p>`}
    ${models?.length === 0 && !is_simulated(health) && html`<p>${t('models_none')}</p><pre tabindex="0">rkllm-mcp pull hf.co/OWNER/NAME</pre>`}
    <ul class="cards">
      ${models?.map((model) => html`<${Model} key=${model.id} model=${model} handle=${handle_of(model)} act=${act} busy=${busy.includes(model.id)} />`)}
    </ul>
  </section>`;
}
