// The frame of the page: parts, language, colours, access token.
import { render } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';

import { BoardView } from './board_view.js';
import { ChatView } from './chat_view.js';
import { ConnectView } from './connect_view.js';
import { take_up } from './conversation.js';
import { html } from './html.js';
import { LogView } from './log_view.js';
import { ModelsView } from './models_view.js';
import './page.css';
import { access, set_access_token } from './server.js';
import { use_store } from './store.js';
import { choose_theme, theme } from './theme.js';
import { ToolsView } from './tools_view.js';
import { begin_watching, is_simulated, server } from './watch.js';
import { choose_language, kLanguages, language, t } from './words.js';

const kViews = { chat: ChatView, models: ModelsView, board: BoardView, tools: ToolsView, log: LogView, connect: ConnectView };
const view_of = (hash) => (Object.hasOwn(kViews, hash.slice(1)) ? hash.slice(1) : 'chat');

function use_view() {
  const [view, set_view] = useState(view_of(location.hash));
  useEffect(() => {
    const follow = () => set_view(view_of(location.hash));
    window.addEventListener('hashchange', follow);
    return () => window.removeEventListener('hashchange', follow);
  }, []);
  return view;
}

function AccessToken() {
  const { asking, needed, refused, token } = use_store(access);
  const [written, set_written] = useState('');
  const dialog = useRef(null);
  useEffect(() => {
    if (asking && !dialog.current.open) dialog.current.showModal();
    if (!asking && dialog.current.open) dialog.current.close();
  }, [asking]);
  const cancel = (event) => {
    event.preventDefault(); // closed by the effect above
    access.set({ asking: false });
  };
  const submit = (event) => {
    event.preventDefault();
    if (written.trim() === '') return;
    set_access_token(written.trim());
    set_written('');
  };
  return html`<dialog ref=${dialog} aria-labelledby="token-title" onCancel=${cancel}>
    <form onSubmit=${submit}>
      <h2 id="token-title">${t('token_title')}</h2>
      ${needed && html`<p class="warning" role="alert">${refused ? t('token_refused') : t('token_needed')}</p>`}
      <p>${t('token_help')}</p>
      <label>${t('token_label')}
        <input type="password" autocomplete="off" value=${written} onInput=${(event) => set_written(event.target.value)} />
      </label>
      <div class="actions">
        <button type="submit" class="main">${t('token_use')}</button>
        ${token && html`<button type="button" onClick=${() => set_access_token('')}>${t('token_forget')}</button>`}
        <button type="button" onClick=${cancel}>${t('close')}</button>
      </div>
    </form>
  </dialog>`;
}

function Notices() {
  const { health, answers } = use_store(server);
  const { needed, asking, origin_refused } = use_store(access);
  const reason = health?.runtime?.state === 'gone' ? health.runtime.reason ?? health.runtime.note ?? '' : '';
  return html`<section class="notices" aria-label=${t('notices')}>
    ${is_simulated(health) && html`<p class="simulated" role="note">${t('simulated')}</p>`}
    ${!answers && html`<p class="warning" role="alert">${t('no_server')}</p>`}
    ${origin_refused && html`<p class="warning" role="alert">${t('origin', { host: location.host, name: location.hostname })}</p>`}
    ${health?.runtime?.state === 'gone' && html`<p class="warning" role="alert">${t('trouble', { reason })}</p>`}
    ${health && !health.chat && html`<p class="warning" role="note">${t('chat_off')}</p>`}
    ${needed && !asking && html`<p class="warning" role="alert">${t('token_needed')}</p>`}
  </section>`;
}

function Page() {
  const view = use_view();
  const { code } = use_store(language);
  const { chosen } = use_store(theme);
  const place = useRef(null);
  const View = kViews[view];
  useEffect(() => {
    document.title = view === 'chat' ? t('page_title') : `${t(view)} – ${t('page_title')}`;
  }, [view, code]);
  const skip = (event) => {
    event.preventDefault();
    place.current.focus();
  };
  return html`
    <a class="skip" href="#content" onClick=${skip}>${t('skip')}</a>
    <header>
      <strong class="name">rkllm-mcp</strong>
      <nav aria-label=${t('nav')}>
        ${Object.keys(kViews).map((name) => html`<a key=${name} href=${`#${name}`} aria-current=${name === view ? 'page' : undefined}>${t(name)}</a>`)}
      </nav>
      <div class="choices">
        <select aria-label=${t('language')} value=${code} onChange=${(event) => choose_language(event.target.value)}>
          ${Object.entries(kLanguages).map(([each, name]) => html`<option key=${each} value=${each}>${name}</option>`)}
        </select>
        <select aria-label=${t('theme')} value=${chosen} onChange=${(event) => choose_theme(event.target.value)}>
          ${['system', 'light', 'dark'].map((each) => html`<option key=${each} value=${each}>${t(`theme_${each}`)}</option>`)}
        </select>
        <button type="button" onClick=${() => access.set({ asking: true })}>${t('token_button')}</button>
      </div>
    </header>
    <${Notices} />
    <main id="content" tabindex="0" ref=${place}><${View} words=${code} /></main>
    <${AccessToken} />`;
}

take_up();
render(html`<${Page} />`, document.getElementById('page'));
begin_watching();
