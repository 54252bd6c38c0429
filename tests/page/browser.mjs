// A real Chromium, the one that is installed, and pages in it that watch what they do.
import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';

import { chromium } from 'playwright-core';

// CHROMIUM names one; else the first in PATH. Nothing: there is none.
export function find_chromium() {
  if (process.env.CHROMIUM) return process.env.CHROMIUM;
  const folders = process.env.PATH.split(delimiter);
  const paths = ['chromium', 'chromium-browser', 'google-chrome'].flatMap((name) => folders.map((folder) => join(folder, name)));
  return paths.find(existsSync);
}

export async function start_browser() {
  const args = ['--disable-gpu', '--disable-dev-shm-usage', '--host-resolver-rules=MAP board.local 127.0.0.1'];
  if (process.getuid() === 0) args.push('--no-sandbox'); // Chromium refuses to run as root with it
  return chromium.launch({ executablePath: find_chromium(), args });
}

const kPatience = 20_000; // ms; far above what anything here takes

// A page of its own context (its own sessionStorage) at `address`. Whatever it asks of another address, every error in it
// and every breach of its Content-Security-Policy is in `page.faults`.
export async function open_page(browser, address, { hash = '', ...options } = {}) {
  const context = await browser.newContext({ locale: 'en-GB', viewport: { width: 1100, height: 800 }, ...options });
  const page = await context.newPage();
  watch(page, address);
  await page.goto(`${address}/${hash}`);
  return page;
}

export function watch(page, address) {
  page.setDefaultTimeout(kPatience);
  page.faults = [];
  page.on('request', (request) => {
    if (!request.url().startsWith(`${address}/`)) page.faults.push(`asked for ${request.url()}`);
  });
  page.on('pageerror', (error) => page.faults.push(String(error)));
  page.on('console', (message) => {
    // Chromium itself says so of each answer with an error status, which tests provoke.
    if (message.type() === 'error' && !message.text().startsWith('Failed to load resource')) page.faults.push(message.text());
  });
}

// What the main threads of all pages do while `use` runs: of each task, in ms, the processor's time and the clock's. On a
// busy machine the latter says more of the others than of the page.
export async function tasks_during(browser, page, use) {
  await browser.startTracing(page, { categories: ['toplevel'] });
  await use();
  const { traceEvents: events } = JSON.parse((await browser.stopTracing()).toString());
  const thread = ({ pid, tid }) => `${pid} ${tid}`;
  const mains = new Set(events.filter(({ name, args }) => name === 'thread_name' && args.name === 'CrRendererMain').map(thread));
  return events.filter((each) => each.ph === 'X' && each.name.endsWith('RunTask') && mains.has(thread(each)))
    .map(({ tdur = 0, dur = 0 }) => ({ processor: tdur / 1000, clock: dur / 1000 }));
}
