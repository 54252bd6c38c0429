// The server's log, as it is written.
import { useEffect, useState } from 'preact/hooks';

import { use_following } from './following.js';
import { html } from './html.js';
import { get_json } from './server.js';
import { make_store, use_store } from './store.js';
import { also_watch } from './watch.js';
import { t } from './words.js';

const kKept = 1000; // lines, as many as the server keeps

// `next`: number of the line that is to come.
const log = make_store({ lines: [], next: 0, problem: '' });

async function refresh_log() {
  const { lines, next } = log.get();
  try {
    const part = await get_json(`/log?from=${next}`);
    const goes_on = part.first >= next; // else the server has been started again
    log.set({ lines: [...(goes_on ? lines : []), ...part.lines].slice(-kKept), next: part.next, problem: '' });
  } catch (refusal) {
    log.set({ problem: refusal.status === 403 ? t('log_refused') : refusal.message });
  }
}

export function LogView() {
  const { lines, problem } = use_store(log);
  const [wanted, set_wanted] = useState('');
  const { box, on_scroll } = use_following(wanted);
  useEffect(() => also_watch(refresh_log, true), []);
  const shown = wanted === '' ? lines : lines.filter((line) => line.toLowerCase().includes(wanted.toLowerCase()));
  return html`<section class="log" aria-labelledby="title">
    <div class="bar">
      <h1 id="title">${t('log')}</h1>
      <label class="choice">${t('log_find')}
        <input type="search" value=${wanted} onInput=${(event) => set_wanted(event.target.value)} />
      </label>
    </div>
    ${problem && html`<p class="warning" role="alert">${problem}</p>`}
    <pre role="log" aria-live="off" aria-label=${t('log_lines')} tabindex="0" ref=${box} onScroll=${on_scroll}>${shown.join('\n')}</pre>
    <p class="hint">${t('log_hint')}</p>
  </section>`;
}
