// Copies a text, and says so on the button. Browsers have the clipboard only on pages that came over TLS or from the
// machine itself; elsewhere a selected text field does it.
import { t } from './words.js';

export async function copy_text(text, button) {
  let done = false;
  try {
    if (navigator.clipboard) {
      await navigator.clipboard.writeText(text);
      done = true;
    }
  } catch {
    // not allowed
  }
  if (!done) {
    const field = document.createElement('textarea');
    field.value = text;
    field.className = 'unseen';
    document.body.append(field);
    field.select();
    done = document.execCommand('copy');
    field.remove();
    button.focus();
  }
  const before = button.textContent;
  button.textContent = done ? t('copied') : t('copy_failed');
  setTimeout(() => (button.textContent = before), 2000);
}
