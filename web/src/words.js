// What the page says, in English and Vietnamese.
import { keep, kept, make_store } from './store.js';
import { english } from './words_en.js';
import { vietnamese } from './words_vi.js';

export const kLanguages = { en: 'English', vi: 'Tiếng Việt' };
const kTexts = { en: english, vi: vietnamese };
const kKey = 'rkllm.language';

const chosen = kept('localStorage', kKey) ?? (navigator.language.toLowerCase().startsWith('vi') ? 'vi' : 'en');
export const language = make_store({ code: kTexts[chosen] ? chosen : 'en' });

export function choose_language(code) {
  keep('localStorage', kKey, code);
  document.documentElement.lang = code;
  language.set({ code });
}
document.documentElement.lang = language.get().code;

// The text of a key, with {name} filled in.
export function t(key, values = {}) {
  const text = kTexts[language.get().code][key] ?? english[key] ?? key;
  return text.replace(/\{(\w+)\}/g, (_, name) => values[name] ?? '');
}

// A number as people here write it; what is not known is said to be so.
export function number(value, digits = 0) {
  if (value === null || value === undefined || Number.isNaN(value)) return t('unknown');
  return new Intl.NumberFormat(language.get().code, { maximumFractionDigits: digits, minimumFractionDigits: digits }).format(value);
}

export function bytes(value) {
  if (value === null || value === undefined) return t('unknown');
  const units = ['B', 'kB', 'MB', 'GB'];
  let unit = 0;
  for (; value >= 1000 && unit < units.length - 1; ++unit) value /= 1000;
  return `${number(value, unit > 1 ? 1 : 0)} ${units[unit]}`;
}
