// A text of a model as Markdown, drawn part by part while it grows.
import { Component } from 'preact';
import { useRef } from 'preact/hooks';

import { copy_text } from './copy.js';
import { html } from './html.js';
import { draw_in_steps, elements_of, end_of_node, kLongestStep, Parts } from './markdown.js';
import { t } from './words.js';

// A part that still grows is drawn as plain text from here on: drawing it again and again would take longer and longer.
const kLongestGrowing = 8000;

// A line is often an element, which takes time without having any text.
const kOfLine = 8;

const is_long = (text) => text.length > kLongestGrowing || text.length + kOfLine * text.split('\n').length > kLongestGrowing;

class Part extends Component {
  plain_text = ''; // what is drawn as plain text

  shouldComponentUpdate(next) {
    return next.text !== this.props.text || next.plain !== this.props.plain;
  }

  draw() {
    const { text, plain } = this.props;
    this.steps = null;
    if (plain) return this.draw_plain(text);
    this.plain_text = '';
    const buttons = { copy: t('copy'), copied: copy_text };
    if (!is_long(text)) return this.base.replaceChildren(elements_of(text, buttons));
    this.base.replaceChildren();
    this.draw_on(draw_in_steps(this.base, text, buttons));
  }

  // A step in each frame, until there is nothing left, or all is drawn anew.
  draw_on(steps) {
    this.steps = steps;
    if (steps.next().done) return;
    requestAnimationFrame(() => this.steps === steps && this.draw_on(steps));
  }

  draw_plain(text) {
    if (!this.plain_text || !text.startsWith(this.plain_text)) this.base.replaceChildren();
    let last = this.base.lastChild;
    for (let at = last ? this.plain_text.length : 0; at < text.length;) {
      if (!last || last.length >= kLongestStep) last = this.base.appendChild(document.createTextNode(''));
      const more = text.slice(at, end_of_node(text, at, kLongestStep - last.length));
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
    return html`<${Part} key=${index} text=${part} plain=${growing && last && is_long(part)} />`;
  });
}
