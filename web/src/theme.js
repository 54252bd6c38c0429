// Light or dark: as the device, unless the user has chosen.
import { keep, kept, make_store } from './store.js';

const kKey = 'rkllm.theme';
const device = window.matchMedia('(prefers-color-scheme: dark)');

// chosen: system, light or dark; dark: what is in force
export const theme = make_store({ chosen: 'system', dark: false });

function use(chosen) {
  const dark = chosen === 'dark' || (chosen === 'system' && device.matches);
  document.documentElement.dataset.theme = dark ? 'dark' : 'light';
  theme.set({ chosen, dark });
}

export function choose_theme(chosen) {
  keep('localStorage', kKey, chosen);
  use(chosen);
}

const known = kept('localStorage', kKey);
use(known === 'light' || known === 'dark' ? known : 'system');
device.addEventListener('change', () => use(theme.get().chosen));
