// A text of a model as Markdown, drawn part by part while it grows.
import { Component } from 'preact';
import { useRef } from 'preact/hooks';

import { copy_text } from './copy.js';
import { html } from './html.js';
import { elements_of, Parts } from './markdown.js';
import { t } from './words.js';

// A part that still grows is drawn as plain text from here on: drawing it again and again would take longer and longer.
const kLongestGrowing = 8000;

class Part extends Component {
  shouldComponentUpdate(next) {
    return next.text !== this.props.text || next.plain !== this.props.plain;
  }

  draw() {
    if (this.props.plain) this.base.textContent = this.props.text;
    else this.base.replaceChildren(elements_of(this.props.text, { copy: t('copy'), copied: copy_text }));
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
