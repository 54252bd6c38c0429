// A form made from a tool's JSON Schema. Plain values have fields of their own; what is deeper is written as JSON.
import { html } from './html.js';
import { t } from './words.js';

const type_of = ({ type }) => (Array.isArray(type) ? type.find((each) => each !== 'null') : type);

export function fields_of(schema) {
  const required = schema?.required ?? [];
  return Object.entries(schema?.properties ?? {}).map(([name, property]) => ({
    name,
    property,
    required: required.includes(name),
    kind: property.enum ? 'enum' : ['string', 'number', 'integer', 'boolean'].includes(type_of(property)) ? type_of(property) : 'json',
  }));
}

// What was written, as arguments. Throws Error with a sentence about the first field that is wrong.
export function arguments_of(fields, written) {
  const result = {};
  for (const { name, kind, required, property } of fields) {
    const text = written[name] ?? '';
    if (text === '') {
      if (required) throw new Error(t('missing', { field: name }));
      continue;
    }
    if (kind === 'string') result[name] = text;
    else if (kind === 'number' || kind === 'integer') result[name] = Number(text);
    else if (kind === 'boolean') result[name] = text === 'true';
    else if (kind === 'enum') result[name] = property.enum[Number(text)];
    else {
      try {
        result[name] = JSON.parse(text);
      } catch {
        throw new Error(t('bad_json', { field: name }));
      }
    }
  }
  return result;
}

function Input({ field, id, value, on_change }) {
  const { kind, property, name } = field;
  const common = { id, name, value, 'aria-describedby': property.description ? `${id}-help` : undefined, onInput: (event) => on_change(event.target.value) };
  if (kind === 'number' || kind === 'integer') {
    const step = kind === 'integer' ? 1 : 'any';
    return html`<input type="number" step=${step} min=${property.minimum} max=${property.maximum} placeholder=${property.default} ...${common} />`;
  }
  if (kind === 'boolean' || kind === 'enum') {
    const choices = kind === 'boolean' ? [['true', t('yes')], ['false', t('no')]] : property.enum.map((each, index) => [String(index), String(each)]);
    return html`<select ...${common}>
      <option value="">${t('not_given')}</option>
      ${choices.map(([key, text]) => html`<option key=${key} value=${key}>${text}</option>`)}
    </select>`;
  }
  if (kind === 'json') return html`<textarea rows="4" class="mono" spellcheck="false" placeholder=${t('as_json')} ...${common} />`;
  return html`<textarea rows="1" dir="auto" placeholder=${property.default} ...${common} />`;
}

export function Fields({ fields, written, on_change }) {
  return fields.map((field) => {
    const id = `field-${field.name}`;
    return html`<div class="field" key=${field.name}>
      <label for=${id}><code>${field.name}</code>${field.required && html` <em>(${t('required')})</em>`}</label>
      <${Input} field=${field} id=${id} value=${written[field.name] ?? ''} on_change=${(text) => on_change(field.name, text)} />
      ${field.property.description && html`<small id=${`${id}-help`}>${field.property.description}</small>`}
    </div>`;
  });
}
