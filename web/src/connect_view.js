// How other programs reach this server.
import { useState } from 'preact/hooks';

import { choice } from './conversation.js';
import { copy_text } from './copy.js';
import { html } from './html.js';
import { kSnippets } from './snippets.js';
import { use_store } from './store.js';
import { t } from './words.js';

export function ConnectView() {
  const [client, set_client] = useState('curl');
  const { model } = use_store(choice);
  const text = kSnippets[client]({ at: location.origin, model: model ?? 'MODEL' });
  return html`<section aria-labelledby="title">
    <h1 id="title">${t('connect')}</h1>
    <p>${t('connect_help')}</p>
    <dl class="facts"><dt>${t('connect_address')}</dt><dd><code>${location.origin}</code></dd></dl>
    <div class="choice"><label for="client">${t('connect_client')}</label>
      <select id="client" value=${client} onChange=${(event) => set_client(event.target.value)}>
        ${Object.keys(kSnippets).map((name) => html`<option key=${name} value=${name}>${name}</option>`)}
      </select>
    </div>
    <div class="code">
      <button type="button" onClick=${(event) => copy_text(text, event.currentTarget)}>${t('copy')}</button>
      <pre tabindex="0"><code>${text}</code></pre>
    </div>
    <p class="hint">${t('connect_token')}</p>
  </section>`;
}
