// One measured value over time. Where nothing was measured there is a gap; where nothing ever was, the word "unknown".
import { useEffect, useRef } from 'preact/hooks';
import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';

import { html } from './html.js';
import { use_store } from './store.js';
import { theme } from './theme.js';
import { language, number, t } from './words.js';

const kHeight = 160;

function options_of(box, digits) {
  const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(name);
  const axis = { stroke: colour('--quiet'), grid: { stroke: colour('--line'), width: 1 }, ticks: { stroke: colour('--line') } };
  const time = new Intl.DateTimeFormat(language.get().code, { hour: '2-digit', minute: '2-digit', second: '2-digit', hourCycle: 'h23' });
  return {
    width: Math.max(200, box.clientWidth),
    height: kHeight,
    padding: [12, 30, 0, 0],
    legend: { show: false },
    cursor: { show: false },
    scales: { y: { range: (_, low, high) => [Math.min(0, low), Math.max(1, high * 1.1)] } },
    axes: [
      { ...axis, space: 90, values: (_, splits) => splits.map((at) => time.format(new Date(at * 1000))) },
      { ...axis, size: 46, values: (_, splits) => splits.map((value) => number(value, value % 1 === 0 ? 0 : digits)) },
    ],
    series: [{}, { stroke: colour('--accent'), width: 2, points: { show: true, size: 4 } }],
  };
}

export function Chart({ title, at, values, digits, unknown }) {
  const box = useRef(null);
  const plot = useRef(null);
  const { dark } = use_store(theme);
  const known = values.some((value) => value !== null);
  useEffect(() => {
    if (!known) return undefined;
    plot.current = new uPlot(options_of(box.current, digits), [at, values], box.current);
    const watcher = new ResizeObserver(() => plot.current.setSize({ width: Math.max(200, box.current.clientWidth), height: kHeight }));
    watcher.observe(box.current);
    return () => {
      watcher.disconnect();
      plot.current.destroy();
      plot.current = null;
    };
  }, [known, dark, language.get().code]);
  useEffect(() => plot.current?.setData([at, values]), [at, values]);
  const last = [...values].reverse().find((value) => value !== null) ?? null;
  return html`<figure class="chart">
    <figcaption>${title}: <strong>${number(last, digits)}</strong></figcaption>
    ${known
      ? html`<div ref=${box} role="img" aria-label=${t('chart_now', { name: title, value: number(last, digits) })} />`
      : html`<p class="hint">${unknown}</p>`}
  </figure>`;
}
