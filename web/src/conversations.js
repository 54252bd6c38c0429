// The conversations that the server's memory keeps.
import { useEffect, useState } from 'preact/hooks';

import { conversation, delete_conversation, list, list_conversations, new_conversation, open_conversation, save } from './conversation.js';
import { html } from './html.js';
import { use_store } from './store.js';
import { has_memory, server } from './watch.js';
import { language, t } from './words.js';

const day_of = (text) => new Intl.DateTimeFormat(language.get().code, { dateStyle: 'medium', timeStyle: 'short' }).format(new Date(text));

export function Conversations() {
  const { health } = use_store(server);
  const { id } = use_store(conversation);
  const { conversations, next } = use_store(list);
  const [problem, set_problem] = useState('');
  const on = has_memory(health);
  useEffect(() => {
    if (on) save().then(() => attempt(list_conversations()));
  }, [on]);
  const attempt = (action) => action.then(() => set_problem(''), (refusal) => set_problem(refusal.message));
  const remove = (row) => {
    const title = row.title || t('untitled');
    if (window.confirm(t('delete_ask', { title }))) attempt(delete_conversation(row.conversation_id));
  };
  const row_of = (row) => html`<li key=${row.conversation_id}>
    <button type="button" class="open" aria-current=${row.conversation_id === id ? 'true' : undefined} onClick=${() => attempt(open_conversation(row))}>
      <span dir="auto">${row.title || t('untitled')}</span><small>${day_of(row.updated_at)}</small>
    </button>
    <button type="button" class="remove" aria-label=${t('delete_conversation', { title: row.title || t('untitled') })} onClick=${() => remove(row)}>×</button>
  </li>`;
  // Folded on narrow screens, where the talk needs the room; always open on wide ones.
  const [open, set_open] = useState(false);
  return html`<aside class="conversations" aria-label=${t('conversations')}>
    <div class="bar">
      <button type="button" class="fold" aria-expanded=${open} aria-controls="kept" onClick=${() => set_open(!open)}>${t('conversations')}</button>
      <button type="button" onClick=${() => attempt(new_conversation())}>${t('new_chat')}</button>
    </div>
    <div id="kept" class=${open ? 'kept open' : 'kept'}>
      ${problem && html`<p class="warning" role="alert">${problem}</p>`}
      ${health && !on && html`<p class="hint">${t('no_memory')}</p>`}
      ${on && conversations.length === 0 && html`<p class="hint">${t('no_conversations')}</p>`}
      <ul>${conversations.map(row_of)}</ul>
      ${next && html`<button type="button" onClick=${() => attempt(list_conversations(next))}>${t('more')}</button>`}
    </div>
  </aside>`;
}
