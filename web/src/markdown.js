// Markdown of a model becomes elements that can do no harm: HTML in it is shown as text, what marked makes of the rest is
// cleaned by DOMPurify, and the page's Content-Security-Policy stands behind both. Pictures are named, never fetched.
import DOMPurify from 'dompurify';
import { Marked } from 'marked';

const kEntities = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };
const escaped = (text) => String(text).replace(/[&<>"']/g, (character) => kEntities[character]);

const marked = new Marked({
  gfm: true,
  renderer: {
    html: ({ text }) => escaped(text),
    image: ({ href, text }) => `<a href="${escaped(href)}">🖼 ${escaped(text || href)}</a>`,
    // Headings of an answer stand below those of the page.
    heading({ tokens, depth }) {
      const level = Math.min(depth + 1, 6);
      return `<h${level}>${this.parser.parseInline(tokens)}</h${level}>`;
    },
    checkbox: ({ checked }) => (checked ? '☑ ' : '☐ '),
  },
});

const kAllowed = {
  ALLOWED_TAGS: ['a', 'blockquote', 'br', 'code', 'del', 'em', 'h2', 'h3', 'h4', 'h5', 'h6', 'hr', 'li', 'ol', 'p', 'pre', 'strong',
    'table', 'tbody', 'td', 'th', 'thead', 'tr', 'ul'],
  ALLOWED_ATTR: ['href', 'title', 'start', 'align'],
  ALLOWED_URI_REGEXP: /^(?:https?|mailto):/i,
  ALLOW_DATA_ATTR: false,
  ALLOW_ARIA_ATTR: false,
  RETURN_DOM_FRAGMENT: true,
};

// `copy`: what the button beside code says; `copied` is called with the code.
function cleaned(untrusted, { copy, copied }) {
  const fragment = DOMPurify.sanitize(untrusted, kAllowed);
  for (const link of fragment.querySelectorAll('a')) {
    if (!link.hasAttribute('href')) continue;
    link.target = '_blank';
    link.rel = 'noopener noreferrer';
  }
  for (const code of fragment.querySelectorAll('pre')) {
    code.tabIndex = 0; // so that the keyboard can move wide lines
    const box = document.createElement('div');
    box.className = 'code';
    const button = document.createElement('button');
    button.type = 'button';
    button.textContent = copy;
    button.addEventListener('click', () => copied(code.textContent, button));
    code.replaceWith(box);
    box.append(button, code);
  }
  for (const table of fragment.querySelectorAll('table')) {
    const box = document.createElement('div');
    box.className = 'wide';
    box.tabIndex = 0;
    table.replaceWith(box);
    box.append(table);
  }
  return fragment;
}

// The elements of a text.
export const elements_of = (text, buttons) => cleaned(marked.parse(text), buttons);

// So many characters are made and drawn in one step: of a long text the browser measures only what comes with it.
export const kLongestStep = 2000;

// What an element takes on top of its text, in characters: thousands of empty ones (rows of a table, items, rules) take
// long, too.
const kOfElement = 8;

// What it takes to clean a piece, in characters, however small it is.
const kOfPiece = 100;

const size_of = (node) => node.textContent.length + kOfElement * (node.querySelectorAll ? 1 + node.querySelectorAll('*').length : 0);

// The end of a node that begins at `from`: no character of two units (an emoji) is cut in two.
export function end_of_node(text, from, length = kLongestStep) {
  const end = from + length;
  return /[\uD800-\uDBFF]/.test(text[end - 1] ?? '') ? end + 1 : end;
}

// A long table or list as several of some rows or items each, since each of them is cleaned alone. Others as they are.
function* cut(token) {
  const member = { table: 'rows', list: 'items' }[token.type];
  const members = token[member] ?? [];
  let from = 0;
  for (let at = 0, length = 0; at < members.length; ++at) {
    length += members[at].raw?.length ?? members[at].reduce((sum, { text }) => sum + text.length + 3, 0);
    if (length < kLongestStep || at + 1 === members.length) continue;
    yield { ...token, [member]: members.slice(from, at + 1) };
    from = at + 1;
    length = 0;
  }
  yield from === 0 ? token : { ...token, [member]: members.slice(from) };
}

// Draws a long text into `target` step by step: each next() adds some of it.
export function* draw_in_steps(target, text, buttons) {
  let length = 0; // of this step
  function* append(parent, node) {
    const size = size_of(node);
    if (size <= kLongestStep + 1) { // an emoji may be cut off at its end
      parent.append(node);
      length += size;
      if (length < kLongestStep) return;
      length = 0;
      yield;
    } else if (node.nodeType === Node.TEXT_NODE) {
      for (let at = 0; at < node.length;) {
        const end = end_of_node(node.data, at);
        yield* append(parent, document.createTextNode(node.data.slice(at, end)));
        at = end;
      }
    } else {
      const inside = [...node.childNodes];
      node.replaceChildren();
      parent.append(node);
      for (const each of inside) yield* append(node, each);
    }
  }
  for (const token of marked.lexer(text)) {
    let grown = null; // what the rows or items that follow belong to
    for (const piece of cut(token)) {
      const fragment = cleaned(marked.parser([piece]), buttons);
      length += kOfPiece;
      const members = fragment.querySelector({ table: 'tbody', list: 'ul, ol' }[token.type] ?? 'none');
      for (const node of [...(grown ? members : fragment).childNodes]) yield* append(grown ?? target, node);
      grown ??= members;
    }
  }
}

const kListItem = /^ {0,3}(?:[-*+]|\d{1,9}[.)])(?:\s|$)/;

// Shorter ones stay together, since each part takes time whenever the text grows.
const kShortestPart = 400;

// Cuts a growing text into parts that can be drawn one by one: a part ends at a blank line that nothing carries on (code,
// a list). All parts but the last never change again, so that a long answer is drawn once and not at every token.
export class Parts {
  done = [];
  rest_at = 0;
  looked_at = 0; // where the next line to look at begins
  fence = '';
  blank = false;
  in_list = false;

  // The parts of `text`, which begins with what it was before.
  of(text) {
    for (;;) {
      const end = text.indexOf('\n', this.looked_at);
      if (end < 0) break;
      this.line(text, text.slice(this.looked_at, end));
      this.looked_at = end + 1;
    }
    return [...this.done, text.slice(this.rest_at)];
  }

  line(text, line) {
    if (this.fence) {
      const closing = line.trim();
      if (closing.startsWith(this.fence) && closing === this.fence[0].repeat(closing.length)) this.fence = '';
      return;
    }
    if (line.trim() === '') {
      this.blank = true;
      return;
    }
    const carries_on = /^\s/.test(line) || (this.in_list && kListItem.test(line));
    if (this.blank && !carries_on && this.looked_at >= this.rest_at + kShortestPart) {
      this.done.push(text.slice(this.rest_at, this.looked_at));
      this.rest_at = this.looked_at;
      this.in_list = false;
    }
    if (this.looked_at === this.rest_at || !carries_on) this.in_list = kListItem.test(line);
    this.blank = false;
    this.fence = /^ {0,3}(`{3,}|~{3,})/.exec(line)?.[1] ?? '';
  }
}
