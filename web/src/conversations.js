// The conversations that the server's memory keeps: open, search, rename, delete.
import { useEffect, useRef, useState } from 'preact/hooks';

import {
  conversation, delete_conversation, list, list_conversations, new_conversation, open_conversation, rename_conversation, save, search_conversations,
} from './conversation.js';
import { html } from './html.js';
import { use_store } from './store.js';
import { has_memory, server } from './watch.js';
import { language, t } from './words.js';

const kAfterTyping = 250; // ms
const kShownBefore = 30; // characters in front of a word that was found
const kShown = 150;

const day_of = (text) => new Intl.DateTimeFormat(language.get().code, { dateStyle: 'medium', timeStyle: 'short' }).format(new Date(text));
const name_of = ({ title, found }) => title || found?.slice(0, kShownBefore) || t('untitled');

// The piece of a message in which a word was found, as far as it is written the same way there.
function piece_of(message, query) {
  const at = Math.max(0, message.toLowerCase().indexOf(query.trim().toLowerCase().split(/\s+/)[0]) - kShownBefore);
  return `${at > 0 ? '…' : ''}${message.slice(at, at + kShown)}`;
}

// What is found for what is in the field, a moment after the last key.
function use_search(attempt) {
  const [query, set_query] = useState('');
  const [rows, set_rows] = useState(null); // null: nothing is searched for
  const again = async (text = query) => {
    if (text.trim() === '') return set_rows(null);
    const found = await search_conversations(text);
    set_rows(found);
  };
  useEffect(() => {
    if (query.trim() === '') return set_rows(null);
    let is_over = false;
    const timer = setTimeout(() => attempt(search_conversations(query).then((found) => is_over || set_rows(found))), kAfterTyping);
    return () => {
      is_over = true;
      clearTimeout(timer);
    };
  }, [query]);
  return { query, set_query, rows, again };
}

function Renaming({ row, done }) {
  const [title, set_title] = useState(row.title ?? '');
  const field = useRef(null);
  useEffect(() => {
    field.current.focus(); // which select() need not do
    field.current.select();
  }, []);
  const submit = (event) => {
    event.preventDefault();
    if (title.trim() !== '') done(title.trim());
  };
  return html`<form class="renaming" onSubmit=${submit}>
    <input ref=${field} aria-label=${t('new_title')} maxlength="200" dir="auto" value=${title} onInput=${(event) => set_title(event.target.value)}
      onKeyDown=${(event) => event.key === 'Escape' && done(null)} />
    <button type="submit">${t('rename')}</button>
    <button type="button" onClick=${() => done(null)}>${t('cancel')}</button>
  </form>`;
}

function Row({ row, query, attempt, changed }) {
  const { id } = use_store(conversation);
  const [renames, set_renames] = useState(false);
  const title = name_of(row);
  const rename_button = useRef(null);
  const was_renaming = useRef(false);
  useEffect(() => {
    if (was_renaming.current) rename_button.current.focus(); // what had the focus has gone
    was_renaming.current = renames;
  }, [renames]);
  const remove = (event) => {
    if (!window.confirm(t('delete_ask', { title }))) return;
    event.currentTarget.closest('.conversations').querySelector('.new').focus(); // this row goes away
    attempt(delete_conversation(row.conversation_id).then(changed));
  };
  const rename = (text) => {
    set_renames(false);
    if (text !== null) attempt(rename_conversation(row.conversation_id, text).then(changed));
  };
  if (renames) return html`<li><${Renaming} row=${row} done=${rename} /></li>`;
  return html`<li>
    <button type="button" class="open" aria-current=${row.conversation_id === id ? 'true' : undefined} onClick=${() => attempt(open_conversation(row))}>
      <span dir="auto">${title}</span>${row.found && html`<small class="found" dir="auto">${piece_of(row.found, query)}</small>`}<small>${day_of(row.updated_at)}</small>
    </button>
    <button type="button" class="small" ref=${rename_button} aria-label=${t('rename_conversation', { title })} onClick=${() => set_renames(true)}>✎</button>
    <button type="button" class="small" aria-label=${t('delete_conversation', { title })} onClick=${remove}>×</button>
  </li>`;
}

export function Conversations() {
  const { health } = use_store(server);
  const { conversations, next } = use_store(list);
  const [problem, set_problem] = useState('');
  const on = has_memory(health);
  useEffect(() => {
    if (on) save().then(() => attempt(list_conversations()));
  }, [on]);
  const attempt = (action) => action.then(() => set_problem(''), (refusal) => set_problem(refusal.message));
  const { query, set_query, rows, again } = use_search(attempt);
  // Folded on narrow screens, where the talk needs the room; always open on wide ones.
  const [open, set_open] = useState(false);
  const shown = rows ?? conversations;
  return html`<aside class="conversations" aria-label=${t('conversations')}>
    <div class="bar">
      <button type="button" class="fold" aria-expanded=${open} aria-controls="kept" onClick=${() => set_open(!open)}>${t('conversations')}</button>
      <button type="button" class="new" onClick=${() => attempt(new_conversation())}>${t('new_chat')}</button>
    </div>
    <div id="kept" class=${open ? 'kept open' : 'kept'}>
      ${problem && html`<p class="warning" role="alert">${problem}</p>`}
      ${health && !on && html`<p class="hint">${t('no_memory')}</p>`}
      ${on && conversations.length === 0 && html`<p class="hint">${t('no_conversations')}</p>`}
      ${on && (conversations.length > 0 || rows) && html`<input type="search" role="searchbox" aria-label=${t('search')} placeholder=${t('search')}
        value=${query} onInput=${(event) => set_query(event.target.value)} onKeyDown=${(event) => event.key === 'Escape' && set_query('')} />`}
      <p class="hint said" role="status">${rows && t('search_found', { n: rows.length })}</p>
      <ul>${shown.map((row) => html`<${Row} key=${row.conversation_id} row=${row} query=${query} attempt=${attempt} changed=${() => again()} />`)}</ul>
      ${next && !rows && html`<button type="button" onClick=${() => attempt(list_conversations(next))}>${t('more')}</button>`}
    </div>
  </aside>`;
}
