// A text of a model as Markdown, drawn part by part while it grows.
import { Component } from 'preact';
import { useRef } from 'preact/hooks';

import { copy_text } from './copy.js';
import { html } from './html.js';
import { elements_of, Parts } from './markdown.js';
import { t } from './words.js';

// A part that still grows is drawn as plain text from here on: drawing it again and again would take longer and longer.
const kLongestGrowing = 8000;
// A text is drawn in nodes of so many characters, one after the other: the browser measures only the one that changes.
const kLongestNode = 2000;

// The end of a node that begins at `from`: no character of two units (an emoji) is cut in two.
function end_of_node(text, from, length = kLongestNode) {
  const end = from + length;
  return /[\uD800-\uDBFF]/.test(text[end - 1] ?? '') ? end + 1 : end;
}

// Takes out of the long paragraphs of a fragment all but their beginning; tells what goes on behind which paragraph.
function cut_off(fragment) {
  const missing = [];
  for (const parent of fragment.children) {
    for (let node = parent.firstChild; node; node = node.nextSibling) {
      if (node.length > kLongestNode) node.splitText(end_of_node(node.data, 0)); // the rest is the next one
    }
    let length = 0;
    const nodes = [...parent.childNodes].filter((node) => (length += node.textContent.length) > kLongestNode);
    for (const node of nodes) node.remove();
    if (nodes.length) missing.push({ parent, nodes });
  }
  return missing;
}

class Part extends Component {
  plain_text = ''; // what is drawn as plain text

  shouldComponentUpdate(next) {
    return next.text !== this.props.text || next.plain !== this.props.plain;
  }

  draw() {
    if (this.props.plain) return this.draw_plain(this.props.text);
    this.plain_text = '';
    const elements = elements_of(this.props.text, { copy: t('copy'), copied: copy_text });
    this.missing = this.props.text.length > kLongestGrowing ? cut_off(elements) : [];
    this.base.replaceChildren(elements);
    this.add_missing(this.missing);
  }

  // So many characters in each frame, until there is nothing left, or all is drawn anew.
  add_missing(missing) {
    if (!missing.length || missing !== this.missing) return;
    requestAnimationFrame(() => {
      const [{ parent, nodes }] = missing;
      for (let length = 0; nodes.length && length < kLongestNode; length += parent.lastChild.textContent.length) parent.append(nodes.shift());
      if (!nodes.length) missing.shift();
      this.add_missing(missing);
    });
  }

  draw_plain(text) {
    if (!this.plain_text || !text.startsWith(this.plain_text)) this.base.replaceChildren();
    let last = this.base.lastChild;
    for (let at = last ? this.plain_text.length : 0; at < text.length;) {
      if (!last || last.length >= kLongestNode) last = this.base.appendChild(document.createTextNode(''));
      const more = text.slice(at, end_of_node(text, at, kLongestNode - last.length));
      last.appendData(more);
      at += more.length;
    }
    this.plain_text = text;
  }

  componentDidMount() {
    this.draw();
  }

  componentDidUpdate() {
    this.draw();
  }

  render({ plain }) {
    return html`<div class=${plain ? 'part plain' : 'part'} dir="auto" />`;
  }
}

export function AnswerText({ text, growing }) {
  const parts = useRef(null);
  if (!parts.current || !text.startsWith(parts.current.seen)) parts.current = { cut: new Parts(), seen: '' };
  parts.current.seen = text.slice(0, 200);
  const texts = parts.current.cut.of(text);
  return texts.map((part, index) => {
    const last = index === texts.length - 1;
    return html`<${Part} key=${index} text=${part} plain=${growing && last && part.length > kLongestGrowing} />`;
  });
}
