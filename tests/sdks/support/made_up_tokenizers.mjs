// tokenizer.json files in the shapes that families publish, learnt here from a few lines of text.

const kCorpus = `The board has a chip, and the chip has three cores. The cores are small; the models are larger than they look.
Chip ${'and board '.repeat(20)} tokens tokenizer tokenized, it's what they've told us, we'll see: 12345 67 890 2026-11-24.
Mỗi ngày tôi uống nước lạnh, răng của tôi bị đau, tôi nên làm gì? Xin hãy giải thích nguyên nhân và cách điều trị.
今天天气很好，我们去公园散步。东京は日本の首都です。 Ein großer Löwe läuft über die Straße.
for (int i = 0; i < 10; ++i) {\n    sum += values[i];\n\n\t\treturn sum;\n}
`;

export const kMark = '\u2581'; // SentencePiece's space
const kQwen = "(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+";
const kLlama = kQwen.replace('|\\p{N}|', '|\\p{N}{1,3}|');

// GPT-2's alphabet of bytes.
const alphabet = (() => {
  const seen = (byte) => (byte >= 0x21 && byte <= 0x7e) || (byte >= 0xa1 && byte <= 0xac) || byte >= 0xae;
  let next = 0x100;
  return Array.from({ length: 256 }, (_, byte) => String.fromCodePoint(seen(byte) ? byte : next++));
})();
const in_bytes = (text) => [...Buffer.from(text)].map((byte) => alphabet[byte]);

// Joins the pair that stands together most often, again and again.
function learn(words, tokens, merges) {
  const vocab = Object.fromEntries(tokens.map((token, id) => [token, id]));
  const learnt = [];
  while (learnt.length < merges) {
    const counts = new Map();
    for (const word of words) {
      for (let n = 0; n + 1 < word.length; ++n) {
        const pair = `${word[n]} ${word[n + 1]}`;
        counts.set(pair, (counts.get(pair) ?? 0) + 1);
      }
    }
    const best = [...counts].reduce((one, other) => (other[1] > one[1] ? other : one), ['', 0]);
    if (best[1] === 0) break;
    const [left, right] = best[0].split(' ');
    learnt.push([left, right]);
    vocab[left + right] ??= Object.keys(vocab).length;
    words = words.map((word) => {
      const joined = [];
      for (let n = 0; n < word.length; ++n) {
        if (word[n] === left && word[n + 1] === right) joined.push(left + word[++n]);
        else joined.push(word[n]);
      }
      return joined;
    });
  }
  return { vocab, learnt };
}

const added = (content, id, fields = {}) => ({ id, content, single_word: false, lstrip: false, rstrip: false, normalized: false, special: true, ...fields });

function file({ vocab, learnt }, specials, parts, model) {
  const first = Object.keys(vocab).length;
  return { version: '1.0', truncation: null, padding: null,
    added_tokens: specials.map(([content, fields], n) => added(content, vocab[content] ?? first + n, fields)),
    normalizer: null, pre_tokenizer: null, post_processor: null, decoder: null, ...parts,
    model: { type: 'BPE', dropout: null, unk_token: null, continuing_subword_prefix: null, end_of_word_suffix: null,
      fuse_unk: false, byte_fallback: false, ignore_merges: false, vocab, merges: learnt, ...model } };
}

const split_by = (regex) => [...kCorpus.matchAll(new RegExp(regex.replace('(?i:', '(?:'), 'gu'))].map(([word]) => word);
const kByteLevel = { type: 'ByteLevel', add_prefix_space: false, trim_offsets: false, use_regex: false };
const kChat = [['<|endoftext|>'], ['<|im_start|>'], ['<|im_end|>'], ['<tool_call>', { special: false }]];

function of_bytes(regex, parts, model, as_text = false) {
  const learnt = learn(split_by(regex).map(in_bytes), alphabet, 400);
  if (as_text) learnt.learnt = learnt.learnt.map((pair) => pair.join(' ')); // as older files have it
  return file(learnt, kChat, {
    pre_tokenizer: { type: 'Sequence', pretokenizers: [{ type: 'Split', pattern: { Regex: regex }, behavior: 'Isolated', invert: false }, kByteLevel] },
    post_processor: { type: 'ByteLevel', add_prefix_space: true, trim_offsets: false, use_regex: true }, ...parts }, model);
}

function of_characters(parts, model) {
  const words = kCorpus.split(' ').map((word) => [...(kMark + word)]);
  const bytes = Array.from({ length: 256 }, (_, byte) => `<0x${byte.toString(16).toUpperCase().padStart(2, '0')}>`);
  const tokens = ['<unk>', '<s>', '</s>', ...bytes, ...new Set(words.flat())].filter((token) => token !== '\n');
  return file(learn(words.filter((word) => !word.includes('\n')), tokens, 300), [['<unk>'], ['<s>'], ['</s>'], ['<|user|>', { rstrip: true }], ['<|end|>', { rstrip: true }]],
    parts, { unk_token: '<unk>', fuse_unk: true, byte_fallback: true, ...model });
}

const begin_with = (token, id) => ({ type: 'TemplateProcessing',
  single: [{ SpecialToken: { id: token, type_id: 0 } }, { Sequence: { id: 'A', type_id: 0 } }],
  pair: [], special_tokens: { [token]: { id: token, ids: [id], tokens: [token] } } });
const kSpaces = { type: 'Replace', pattern: { String: ' ' }, content: kMark };

export const kTokenizers = {
  qwen: of_bytes(kQwen, { normalizer: { type: 'NFC' } }, {}, true),
  llama: of_bytes(kLlama, {}, { ignore_merges: true }),
  gpt: of_bytes(kLlama, { pre_tokenizer: { ...kByteLevel, use_regex: true } }),
  digits: of_bytes(kLlama, { pre_tokenizer: { type: 'Sequence', pretokenizers: [{ type: 'Digits', individual_digits: true }, { ...kByteLevel, use_regex: true }] } }),
  sentence: of_characters({ normalizer: { type: 'Sequence', normalizers: [{ type: 'Prepend', prepend: kMark }, kSpaces] }, post_processor: begin_with('<s>', 1) }),
  metaspace: of_characters({ pre_tokenizer: { type: 'Metaspace', replacement: kMark, prepend_scheme: 'first', split: false }, post_processor: begin_with('<s>', 1) }),
  unknown: of_characters({ normalizer: kSpaces }, { byte_fallback: false }),
};

export const kTexts = ['', ' ', 'a', 'The board', '  two spaces  between   words ', "It's we'LL they'Ve I'd", '12345678901234', 'tab\tand\n\nlines\r\n \n x',
  'răng của tôi bị đau', 'ra\u0306ng cu\u0309a to\u0302i'.normalize('NFD'), '今天天气很好，我们去公园。', 'emoji 👩‍👩‍👧 🇻🇳 e\u0301', 'zero\u200bwidth\u00a0space\u3000ideographic',
  'café naïve ﬁ Ω Å', 'x'.repeat(300), ' '.repeat(200), '\n'.repeat(50), 'if (a<b && c>d) { return a[0] + "é"; }', '𝔘𝔫𝔦𝔠𝔬𝔡𝔢 ١٢٣ Ⅷ ½',
  '<|im_start|>user\nHello<|im_end|>\n<|im_start|>assistant\n', '<|im_start|><|im_end|><|im_', '<s> a </s>b', '<|user|> \n Hi <|end|>\n\n<|user|>', 'a<tool_call>b', ...kCorpus.split('\n'), kCorpus];
