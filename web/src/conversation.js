// The conversation of this tab: what was said, the answer that is being made, and where it is kept.
//
// The server's memory (memory-server) keeps conversations, where it is on. Beside that the tab keeps its own in
// sessionStorage, so that leaving the page in the middle of an answer loses nothing of it.
import { call, post, read_events } from './server.js';
import { keep, kept, make_store } from './store.js';
import { has_memory, server } from './watch.js';
import { t } from './words.js';

const kTabKey = 'rkllm.conversation';
const kModelKey = 'rkllm.model';
const kLongestTitle = 60;
const kKeepEvery = 500; // ms, while an answer grows

// messages: {key, role, content, thinking?, status?, reason?, figures?}; status of an answer: waiting, growing, done,
// stopped, cut, interrupted, failed. `saved`: how many of them the server's memory has; `rewritten`: it has others.
const kEmpty = { id: null, title: '', system: '', messages: [], saved: 0, rewritten: false, save_failed: '' };

export const conversation = make_store({ ...kEmpty });
export const choice = make_store({ model: kept('localStorage', kModelKey), temperature: '', max_tokens: '' });

let last_key = Date.now();
const with_key = (message) => ({ key: ++last_key, ...message });

export function choose_model(model) {
  keep('localStorage', kModelKey, model);
  choice.set({ model });
}

// --- in this tab ---------------------------------------------------------------------------------------------------

let kept_at = 0;
let leaving = false;

function keep_in_tab() {
  kept_at = performance.now();
  keep('sessionStorage', kTabKey, JSON.stringify(conversation.get()));
}

// At the start of the page: the conversation that the tab had. An answer that was being made was interrupted: its run
// has ended with the connection.
export function take_up() {
  try {
    const found = JSON.parse(kept('sessionStorage', kTabKey));
    if (!found) return;
    for (const message of found.messages) {
      message.key = ++last_key;
      if (message.status === 'waiting' || message.status === 'growing') message.status = 'interrupted';
    }
    conversation.set({ ...kEmpty, ...found });
    save();
  } catch {
    // not ours
  }
}

// --- in the server's memory ----------------------------------------------------------------------------------------

const is_kept = ({ role, content, status }) => role === 'user' || (content !== '' && status !== 'waiting' && status !== 'growing');
const is_partial = ({ status }) => status === 'stopped' || status === 'interrupted' || status === 'failed';

function line_of(message) {
  const line = { role: message.role, content: message.content };
  if (is_partial(message)) line.metadata = { partial: true };
  return line;
}

let saving = Promise.resolve();

// One after the other, so that the order is kept. Where the memory is off, nothing happens.
export function save() {
  keep_in_tab();
  saving = saving.then(save_now).catch((refusal) => conversation.set({ save_failed: refusal.message }));
  return saving;
}

async function save_now() {
  if (!has_memory(server.get().health)) return;
  const { id, title, messages, saved, rewritten } = conversation.get();
  if (id === null) return;
  const lines = messages.filter(is_kept);
  if (rewritten) {
    await call('memory/import', { replace: true, lines: [{ conversation: id, title }, ...lines.map(line_of)] });
  } else {
    for (const message of lines.slice(saved)) await call('memory/add_message', { conversation_id: id, ...line_of(message) });
    if (saved === 0 && lines.length > 0) await call('memory/rename', { conversation_id: id, title });
  }
  if (conversation.get().id === id) {
    conversation.set({ saved: lines.length, rewritten: false, save_failed: '' });
    keep_in_tab();
  }
  await list_conversations();
}

export const list = make_store({ conversations: [], next: undefined });

export async function list_conversations(cursor) {
  const read = await call('memory/list', { limit: 30, ...(cursor && { cursor }) });
  const before = cursor ? list.get().conversations : [];
  list.set({ conversations: [...before, ...read.conversations], next: read.nextCursor });
}

// Each conversation that has all these words: {conversation_id, title, found}, where `found` is the message that has
// them. Of a conversation that is not in the list the title is asked for when it is opened.
export async function search_conversations(query) {
  const { hits } = await call('memory/search', { query, limit: 100 });
  const rows = new Map();
  for (const { conversation_id, content, timestamp } of hits) {
    if (rows.has(conversation_id)) continue;
    const known = list.get().conversations.find((each) => each.conversation_id === conversation_id);
    rows.set(conversation_id, { updated_at: timestamp, ...known, conversation_id, found: content });
  }
  return [...rows.values()];
}

export async function rename_conversation(conversation_id, title) {
  await call('memory/rename', { conversation_id, title });
  if (conversation.get().id === conversation_id) {
    conversation.set({ title });
    keep_in_tab();
  }
  await list_conversations();
}

async function title_of(conversation_id) {
  const { lines } = await call('memory/export', { conversation_id, limit: 1 });
  return lines[0].title;
}

export async function open_conversation({ conversation_id, title }) {
  await stop();
  title ??= await title_of(conversation_id);
  const messages = [];
  let cursor;
  do {
    const read = await call('memory/get_all_messages', { conversation_id, limit: 200, ...(cursor && { cursor }) });
    for (const { role, content, metadata } of read.messages) {
      messages.push(with_key({ role, content, status: role === 'assistant' ? (metadata?.partial ? 'stopped' : 'done') : undefined }));
    }
    cursor = read.nextCursor;
  } while (cursor);
  conversation.set({ ...kEmpty, id: conversation_id, title, messages, saved: messages.length });
  keep_in_tab();
}

export async function delete_conversation(conversation_id) {
  await call('memory/delete', { conversation_id });
  if (conversation.get().id === conversation_id) await new_conversation();
  await list_conversations();
}

export async function new_conversation() {
  await stop();
  conversation.set({ ...kEmpty, system: conversation.get().system });
  keep_in_tab();
}

// --- turns -----------------------------------------------------------------------------------------------------------

const new_id = () => `chat_${Array.from(crypto.getRandomValues(new Uint8Array(15)), (byte) => (byte % 36).toString(36)).join('')}`;

export function send(text) {
  const { id, title, messages } = conversation.get();
  conversation.set({
    id: id ?? new_id(),
    title: title || text.trim().split('\n')[0].slice(0, kLongestTitle),
    messages: [...messages, with_key({ role: 'user', content: text })],
  });
  return answer();
}

// Goes on from another text of this message: what came after it is dropped.
export async function edit(key, text) {
  await cut_before(key);
  return send(text);
}

// Another answer in place of this one.
export async function regenerate(key) {
  await cut_before(key);
  return answer();
}

async function cut_before(key) {
  await stop();
  const { messages } = conversation.get();
  conversation.set({ messages: messages.slice(0, messages.findIndex((message) => message.key === key)), rewritten: true });
}

let running = null; // of the answer that is being made: {controller, ended}, the latter a promise

// Ends the answer that is being made. Resolves when what there is of it has been kept.
export async function stop() {
  running?.controller.abort();
  await running?.ended;
}

function answer() {
  const controller = new AbortController();
  const mine = { controller };
  running = mine;
  mine.ended = make_answer(controller).finally(() => {
    if (running === mine) running = null;
  });
  return mine.ended;
}

function body_of_request() {
  const { system, messages } = conversation.get();
  const { model, temperature, max_tokens } = choice.get();
  const said = messages.filter(({ content }) => content !== '').map(({ role, content }) => ({ role, content }));
  const body = { model, messages: system.trim() ? [{ role: 'system', content: system }, ...said] : said };
  if (temperature !== '') body.temperature = Number(temperature);
  if (max_tokens !== '') body.max_tokens = Number(max_tokens);
  return { ...body, stream: true, stream_options: { include_usage: true }, timings_per_token: true };
}

// How often the page is drawn while an answer grows: seldom enough that drawing takes a small part of the time.
class Pace {
  timer = null;
  pause = 50; // ms

  constructor(draw) {
    this.draw = draw;
  }

  wake() {
    this.timer ??= setTimeout(() => {
      this.timer = null;
      const begun = performance.now();
      this.draw();
      this.pause = Math.min(1000, Math.max(50, 6 * (performance.now() - begun)));
    }, this.pause);
  }

  end() {
    clearTimeout(this.timer);
    this.draw();
  }
}

async function make_answer(controller) {
  const body = body_of_request();
  const made = with_key({ role: 'assistant', content: '', thinking: '', status: 'waiting' });
  const { id, messages } = conversation.get();
  conversation.set({ messages: [...messages, made] });
  const saved = save(); // what was asked
  const show = () => {
    const now = conversation.get();
    if (now.id !== id) return;
    conversation.set({ messages: now.messages.map((message) => (message.key === made.key ? { ...made } : message)) });
    if (performance.now() - kept_at > kKeepEvery) keep_in_tab();
  };
  const pace = new Pace(show);
  const begun = performance.now();
  let finish = null;
  try {
    const response = await post('/v1/chat/completions', body, { signal: controller.signal });
    made.queue = Number(response.headers.get('x-rkllm-queue-position')) || 0;
    await read_events(response, (event) => {
      if (event.error) throw new Error(event.error.message);
      const part = event.choices?.[0];
      const delta = part?.delta ?? {};
      if (delta.content || delta.reasoning_content) {
        made.first_s ??= (performance.now() - begun) / 1000;
        made.status = 'growing';
        made.content += delta.content ?? '';
        made.thinking += delta.reasoning_content ?? '';
      }
      finish = part?.finish_reason ?? finish;
      if (event.timings) {
        made.rate = event.timings.predicted_per_second ?? undefined;
        made.tokens = event.timings.predicted_n ?? undefined;
      }
      if (event.usage) made.tokens = event.usage.completion_tokens;
      pace.wake();
    });
    if (finish === null) throw new Error(t('ended_early'));
    made.status = finish === 'length' ? 'cut' : 'done';
  } catch (error) {
    made.status = controller.signal.aborted ? 'stopped' : leaving ? 'interrupted' : 'failed';
    made.reason = error.message;
  }
  pace.end();
  await saved;
  await save();
}

window.addEventListener('pagehide', keep_in_tab);
// The browser ends our requests before it tells us that the page goes.
window.addEventListener('beforeunload', () => (leaving = true));
window.addEventListener('pageshow', () => (leaving = false));
