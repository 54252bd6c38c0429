// Every tool of the server: what it takes, as a form, and what it gives.
import { useEffect, useRef, useState } from 'preact/hooks';

import { html } from './html.js';
import { arguments_of, Fields, fields_of } from './schema_form.js';
import { mcp } from './server.js';
import { t } from './words.js';

async function all_tools() {
  const tools = [];
  let cursor;
  do {
    const page = await mcp('tools/list', cursor ? { cursor } : {});
    tools.push(...page.tools);
    cursor = page.nextCursor;
  } while (cursor);
  return tools;
}

function text_of(block) {
  if (block.type === 'text') return block.text;
  return JSON.stringify(block, null, 2);
}

function Result({ result }) {
  const texts = result.structuredContent ? [JSON.stringify(result.structuredContent, null, 2)] : (result.content ?? []).map(text_of);
  return html`<h3>${result.isError ? t('result_error') : t('result')}</h3>
    ${texts.map((text) => html`<pre class=${result.isError ? 'result bad' : 'result'} tabindex="0" dir="auto">${text}</pre>`)}`;
}

function Tool({ tool }) {
  const [written, set_written] = useState({});
  const [state, set_state] = useState({});
  const running = useRef(null);
  useEffect(() => () => running.current?.abort(), []);
  const fields = fields_of(tool.inputSchema);
  const submit = async (event) => {
    event.preventDefault();
    if (state.calling) return;
    const controller = new AbortController();
    running.current = controller;
    set_state({ calling: true });
    try {
      const given = arguments_of(fields, written);
      const result = await mcp('tools/call', { name: tool.name, arguments: given }, { name: tool.name, signal: controller.signal });
      set_state({ result });
    } catch (error) {
      set_state(controller.signal.aborted ? {} : { problem: error.message });
    }
  };
  const stop = (event) => {
    event.currentTarget.form.querySelector('[type=submit]').focus(); // this button goes away
    running.current.abort();
  };
  return html`<article class="tool">
    <h2>${tool.title ?? tool.name} ${tool.title && html`<code>${tool.name}</code>`}</h2>
    <p>${tool.description}</p>
    ${tool.annotations?.destructiveHint && html`<p class="hint">${t('destructive')}</p>`}
    <form onSubmit=${submit}>
      <${Fields} fields=${fields} written=${written} on_change=${(name, text) => set_written((all) => ({ ...all, [name]: text }))} />
      <div class="actions">
        <button type="submit" class="main" aria-disabled=${state.calling === true}>${t('call_tool')}</button>
        ${state.calling && html`<button type="button" onClick=${stop}>${t('stop')}</button>`}
      </div>
    </form>
    <div role="status">
      ${state.calling && html`<p>${t('calling')}</p>`}
      ${state.problem && html`<p class="warning">${state.problem}</p>`}
      ${state.result && html`<${Result} result=${state.result} />`}
    </div>
  </article>`;
}

export function ToolsView() {
  const [tools, set_tools] = useState(null);
  const [problem, set_problem] = useState('');
  const [sought, set_sought] = useState('');
  const [chosen, set_chosen] = useState(null);
  const read = () => all_tools().then((list) => (set_tools(list), set_problem('')), (refusal) => set_problem(refusal.message));
  useEffect(() => {
    read();
  }, []);
  const shown = (tools ?? []).filter(({ name, title }) => `${name} ${title ?? ''}`.toLowerCase().includes(sought.toLowerCase()));
  const tool = tools?.find(({ name }) => name === chosen);
  return html`<section class="tools" aria-labelledby="title">
    <h1 id="title">${t('tools')}</h1>
    <p>${t('tools_help')}</p>
    ${problem && html`<p class="warning" role="alert">${problem} <button type="button" onClick=${read}>${t('try_again')}</button></p>`}
    <div class="pair">
      <div class="list">
        <label>${t('tools_find')} <input type="search" value=${sought} onInput=${(event) => set_sought(event.target.value)} /></label>
        ${tools && shown.length === 0 && html`<p>${t('tools_none')}</p>`}
        <ul>
          ${shown.map(({ name, title }) => html`<li key=${name}>
            <button type="button" class="open" aria-current=${name === chosen ? 'true' : undefined} onClick=${() => set_chosen(name)}>
              ${title ?? name}<small>${name}</small>
            </button>
          </li>`)}
        </ul>
      </div>
      ${tool ? html`<${Tool} key=${tool.name} tool=${tool} />` : html`<p class="hint">${t('tools_choose')}</p>`}
    </div>
  </section>`;
}
