// Talking to a model.
import { Component } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';

import { AnswerText } from './answer_text.js';
import { choice, choose_model, conversation, edit, regenerate, send, stop } from './conversation.js';
import { Conversations } from './conversations.js';
import { copy_text } from './copy.js';
import { use_following } from './following.js';
import { html } from './html.js';
import { use_store } from './store.js';
import { also_watch, is_simulated, refresh_models, server } from './watch.js';
import { number, t } from './words.js';

// Before what was pressed goes away with all that it stands in: from the messages the keyboard goes on, and Escape stops.
const focus_messages = (event) => event.currentTarget.closest('.messages').focus({ preventScroll: true });

const is_being_made = (message) => message?.status === 'waiting' || message?.status === 'growing';

function Figures({ message }) {
  const said = [];
  if (message.rate !== undefined) said.push(t('speed', { rate: number(message.rate, 1) }));
  if (message.first_s !== undefined) said.push(t('first_token', { time: number(message.first_s, 2) }));
  if (message.tokens !== undefined) said.push(t('tokens', { n: number(message.tokens) }));
  return said.length > 0 && html`<p class="figures">${said.join(' · ')}</p>`;
}

function Thinking({ message }) {
  if (!message.thinking) return null;
  const now = message.status === 'growing' && message.content === '';
  return html`<details class="thinking">
    <summary>${now ? t('thinking_now') : t('thinking')}</summary>
    <div class="plain" dir="auto">${message.thinking}</div>
  </details>`;
}

function Waiting({ message }) {
  const { models } = use_store(server);
  const loading = models?.find(({ id }) => id === choice.get().model)?.rkllm?.state === 'loading';
  useEffect(() => also_watch(() => refresh_models(), true), []);
  return html`<p class="waiting">
    ${loading ? t('waiting_load') : t('waiting')} ${message.queue > 0 && t('queue_position', { n: message.queue })}
  </p>`;
}

const kEndings = { stopped: 'answer_stopped', cut: 'answer_cut', interrupted: 'answer_interrupted', failed: 'answer_failed' };

function Answer({ message, busy }) {
  const ending = kEndings[message.status];
  const again = (event) => {
    focus_messages(event);
    regenerate(message.key);
  };
  return html`<article class="message answer" aria-label=${t('assistant')}>
    <${Thinking} message=${message} />
    <${AnswerText} key=${message.key} text=${message.content} growing=${message.status === 'growing'} />
    ${message.status === 'waiting' && html`<${Waiting} message=${message} />`}
    ${ending && html`<p class=${`ending ${message.status}`}>${t(ending, { reason: message.reason ?? '' })}</p>`}
    <${Figures} message=${message} />
    ${!is_being_made(message) && html`<div class="actions">
      <button type="button" onClick=${(event) => copy_text(message.content, event.currentTarget)}>${t('copy_answer')}</button>
      <button type="button" disabled=${busy} onClick=${again}>${t('regenerate')}</button>
    </div>`}
  </article>`;
}

function Question({ message, busy }) {
  const [text, set_text] = useState(null); // null: not being edited
  const field = useRef(null);
  useEffect(() => field.current?.focus(), [text === null]);
  if (text === null) {
    return html`<article class="message question" aria-label=${t('you')}>
      <div class="plain" dir="auto">${message.content}</div>
      <div class="actions">
        <button type="button" disabled=${busy} onClick=${() => set_text(message.content)}>${t('edit')}</button>
      </div>
    </article>`;
  }
  const done = (event) => {
    event.preventDefault();
    if (text.trim() === '') return;
    focus_messages(event);
    set_text(null);
    edit(message.key, text);
  };
  const leave = (event) => {
    focus_messages(event);
    set_text(null);
  };
  return html`<form class="message question" onSubmit=${done}>
    <textarea ref=${field} rows="3" aria-label=${t('edit_message')} value=${text} onInput=${(event) => set_text(event.target.value)}
      onKeyDown=${(event) => event.key === 'Escape' && leave(event)} />
    <div class="actions">
      <button type="submit">${t('save_and_send')}</button>
      <button type="button" onClick=${leave}>${t('cancel')}</button>
    </div>
  </form>`;
}

// Drawn again only when the message itself is another one: a long conversation costs nothing while its last answer grows.
class Message extends Component {
  shouldComponentUpdate(next) {
    return next.message !== this.props.message || next.busy !== this.props.busy || next.words !== this.props.words;
  }

  render({ message, busy }) {
    return message.role === 'user' ? html`<${Question} message=${message} busy=${busy} />` : html`<${Answer} message=${message} busy=${busy} />`;
  }
}

function ModelChoice() {
  const { models, health } = use_store(server);
  const { model } = use_store(choice);
  const names = models?.map(({ id }) => id) ?? [];
  const usable = names.includes(model);
  useEffect(() => {
    // Somebody may have chosen one since this was drawn.
    if (names.includes(choice.get().model) || names.length === 0) return;
    choose_model((models.find(({ rkllm }) => rkllm?.state === 'loaded') ?? models[0]).id);
  }, [names.join('\n'), usable]);
  if (models && names.length === 0) return html`<p>${t(is_simulated(health) ? 'no_simulated_models' : 'no_models')}</p>`;
  return html`<div class="choice"><label for="model">${t('model')}</label>
    <select id="model" value=${model} onChange=${(event) => choose_model(event.target.value)}>
      ${names.map((name) => html`<option key=${name} value=${name} selected=${name === model}>${name}</option>`)}
    </select>
  </div>`;
}

function Options() {
  const { system } = use_store(conversation);
  const { temperature, max_tokens } = use_store(choice);
  return html`<details class="options">
    <summary>${t('options')}</summary>
    <label>${t('system')}
      <textarea rows="2" value=${system} placeholder=${t('system_help')} onInput=${(event) => conversation.set({ system: event.target.value })} />
    </label>
    <label>${t('temperature')}
      <input type="number" min="0" max="2" step="0.1" value=${temperature} placeholder=${t('as_model')}
        onInput=${(event) => choice.set({ temperature: event.target.value })} />
    </label>
    <label>${t('max_tokens')}
      <input type="number" min="1" step="1" value=${max_tokens} placeholder=${t('as_model')}
        onInput=${(event) => choice.set({ max_tokens: event.target.value })} />
    </label>
  </details>`;
}

function Entry({ busy }) {
  const [text, set_text] = useState('');
  const { model } = use_store(choice);
  const may_send = !busy && text.trim() !== '' && model;
  const submit = (event) => {
    event.preventDefault();
    if (!may_send) return;
    set_text('');
    send(text);
  };
  const on_key = (event) => {
    // While a word is being composed (Vietnamese, Chinese input) Enter ends the word.
    if (event.key === 'Enter' && !event.shiftKey && !event.isComposing) submit(event);
  };
  return html`<form class="entry" onSubmit=${submit}>
    <textarea rows="3" aria-label=${t('message')} placeholder=${t('message_hint')} value=${text} dir="auto"
      onInput=${(event) => set_text(event.target.value)} onKeyDown=${on_key} />
    ${busy
      ? html`<button type="button" class="main stop" onClick=${stop}>${t('stop')}</button>`
      : html`<button type="submit" class="main" aria-disabled=${!may_send}>${t('send')}</button>`}
  </form>`;
}

export function ChatView({ words }) {
  const { messages, save_failed } = use_store(conversation);
  const last = messages[messages.length - 1];
  const busy = is_being_made(last);
  const { box, on_scroll } = use_following(messages.length);
  const said = last?.role !== 'assistant' ? '' : busy ? t('answering') : t(kEndings[last.status] ?? 'answer_done', { reason: last.reason ?? '' });
  const on_key = (event) => event.key === 'Escape' && busy && stop();
  return html`<section class="chat" aria-labelledby="title" onKeyDown=${on_key}>
    <h1 id="title" class="unseen">${t('chat')}</h1>
    <${Conversations} />
    <div class="talk">
      <div class="bar"><${ModelChoice} /><${Options} /></div>
      <div class="messages" role="region" aria-label=${t('messages')} tabindex="0" ref=${box} onScroll=${on_scroll} aria-busy=${busy}>
        ${messages.length === 0 && html`<p class="start">${t('start')}</p>`}
        ${messages.map((message) => html`<${Message} key=${message.key} message=${message} busy=${busy} words=${words} />`)}
      </div>
      ${save_failed && html`<p class="warning" role="alert">${t('not_saved', { reason: save_failed })}</p>`}
      <p class="unseen" role="status">${said}</p>
      <${Entry} busy=${busy} />
    </div>
  </section>`;
}
