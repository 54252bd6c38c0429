// What the board does: runs, queues, speed, the NPU.
import { useEffect } from 'preact/hooks';

import { Chart } from './chart.js';
import { html } from './html.js';
import { use_store } from './store.js';
import { also_watch, handles, read_runtime, refresh_handles, runtime, samples, server } from './watch.js';
import { number, t } from './words.js';

function Handle({ handle, speed }) {
  // A chat takes the whole model for its turn, whatever it will call.
  const waits = ({ method, waiting_ms }) =>
    html`<li>${t(method === 'lease' ? 'waits_chat' : 'waits', { method, time: number(waiting_ms / 1000, 1) })}</li>`;
  return html`<li class="card">
    <h3>${handle.model ?? handle.id}</h3>
    <dl>
      <dt>${t('state')}</dt><dd><span class=${handle.running ? 'lamp on' : 'lamp'} aria-hidden="true" /> ${handle.running ? t('running') : t('idle')}</dd>
      <dt>${t('queue')}</dt><dd>${number(handle.queued)}</dd>
      <dt>${t('latest_speed')}</dt>
      <dd>${speed?.tokens_per_second == null ? t('unknown') : t('speed', { rate: number(speed.tokens_per_second, 1) })}</dd>
    </dl>
    ${handle.queue.length > 0 && html`<ol>${handle.queue.map(waits)}</ol>`}
  </li>`;
}

function Facts() {
  const { health } = use_store(server);
  const { facts } = use_store(runtime);
  if (!health) return null;
  const minutes = Math.floor(health.uptime_s / 60);
  return html`<dl class="facts">
    <dt>${t('version')}</dt><dd>${health.version}</dd>
    <dt>${t('runtime')}</dt><dd>${health.runtime?.version ?? t('unknown')}${health.runtime?.simulated ? ' (SIMULATED)' : ''}</dd>
    <dt>${t('board_model')}</dt><dd>${facts?.board?.model ?? t('unknown')}</dd>
    <dt>${t('npu_driver')}</dt><dd>${facts?.board?.npu_driver ?? t('unknown')}</dd>
    <dt>${t('uptime')}</dt><dd>${t('uptime_value', { h: number(Math.floor(minutes / 60)), m: number(minutes % 60) })}</dd>
  </dl>`;
}

export function BoardView() {
  const { health } = use_store(server);
  const { list } = use_store(handles);
  const columns = use_store(samples);
  useEffect(() => also_watch(() => refresh_handles()), []);
  useEffect(() => {
    read_runtime().catch(() => {});
  }, []);
  const speed_of = (handle) => health?.models?.find((model) => model.handle === handle.id);
  const chart = (name, digits, why) =>
    html`<${Chart} title=${t(`chart_${name}`)} at=${columns.at} values=${columns[name]} digits=${digits} unknown=${t(why)} />`;
  return html`<section aria-labelledby="title">
    <h1 id="title">${t('board')}</h1>
    <h2>${t('runs')}</h2>
    ${list?.length === 0 && html`<p>${t('no_runs')}</p>`}
    <ul class="cards">${list?.map((handle) => html`<${Handle} key=${handle.id} handle=${handle} speed=${speed_of(handle)} />`)}</ul>
    <h2>${t('speeds')}</h2>
    <div class="charts">
      ${chart('tokens', 1, 'chart_unknown_yet')}
      ${chart('first', 2, 'chart_unknown_yet')}
      ${chart('load', 0, 'chart_unknown_npu')}
      ${chart('temperature', 1, 'chart_unknown_npu')}
    </div>
    <h2>${t('facts')}</h2>
    <${Facts} />
  </section>`;
}
