// Every field that a publisher's SDK declares for a request is sent once: it is honoured, or named in x-rkllm-ignored, or
// refused with an error that names it. A field that a new version of an SDK brings fails here until somebody has decided.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, test } from 'node:test';

import { kNestedFields, kNestedPublished, kRequests, kWrong } from './support/fields.mjs';
import { Board, kModel, saying } from './support/board.mjs';

let board;
before(async () => { board = await Board.start(); });
after(() => board.stop());

const kAnswer = saying('{"a":1}'); // also where JSON is asked for

// The members of an interface in a package's declarations, but for those that its SDK sends as headers.
function published({ file, name }) {
  const text = readFileSync(new URL(`../node_modules/${file}`, import.meta.url), 'utf8');
  const body = new RegExp(`^(?:export )?interface ${name} (?:extends \\S+ )?\\{\\n(.*?)^\\}`, 'ms').exec(text)?.[1];
  assert.ok(body, `${file} has no interface ${name}`);
  const members = [...body.matchAll(/^ {4}(?:\/\*\*(?<comment>(?:(?!\*\/).)*)\*\/\s*)?(?<member>\w+)\??:/gms)];
  return members.filter(({ groups }) => !groups.comment?.includes('Header param')).map(({ groups }) => groups.member);
}

async function send({ path, base }, fields) {
  const response = await fetch(board.url + path, { method: 'POST', body: JSON.stringify({ ...base(kModel, kAnswer), ...fields }) });
  const ignored = (response.headers.get('x-rkllm-ignored') ?? '').split(', ').filter(Boolean);
  return { status: response.status, ignored, text: await response.text() };
}

for (const request of kRequests) {
  test(`${request.path}: its publisher's fields are all decided`, () => {
    const decided = ['honoured', 'ignored', 'refused'].flatMap((kind) => Object.keys(request[kind]));
    const open = request.published.flatMap(published).filter((name) => !decided.includes(name));
    assert.deepEqual(open, [], 'neither honoured, ignored nor refused');
    assert.equal(new Set(decided).size, decided.length);
  });

  for (const [name, value] of Object.entries(request.honoured)) {
    test(`${request.path}: ${name} is honoured`, async () => {
      const { status, ignored, text } = await send(request, { [name]: value });
      assert.equal(status, request.statuses?.[name] ?? 200, text);
      assert.ok(!ignored.includes(name), 'is ignored');
    });
  }

  for (const [name, value] of Object.entries(request.ignored)) {
    test(`${request.path}: ${name} is ignored and named`, async () => {
      const { status, ignored, text } = await send(request, { [name]: value });
      assert.equal(status, 200, text);
      assert.deepEqual(ignored, [name]);
    });
  }

  for (const [name, value] of Object.entries(request.refused)) {
    test(`${request.path}: ${name} is refused by name`, async () => {
      const { status, text } = await send(request, { [name]: value });
      assert.equal(status, 400, text);
      assert.match(text, new RegExp(`\\b${name}\\b`));
    });
  }

  test(`${request.path}: a field of a wrong type is refused by name`, async () => {
    for (const [name, value] of Object.entries({ ...request.honoured, ...request.ignored, ...request.refused })) {
      const { status, text } = await send(request, { [name]: kWrong(value) });
      assert.equal(status, 400, `${name}: ${text}`);
      assert.match(text, new RegExp(`\\b${name}\\b`));
    }
  });
}

for (const { path, file, name, at, honoured } of kNestedPublished) {
  test(`${path}: its publisher's fields of ${name} are all decided`, () => {
    const named = kNestedFields.filter((nested) => nested.path === path).flatMap(({ names }) => names);
    assert.deepEqual(published({ file, name }).filter((member) => !honoured.includes(member) && !named.includes(at + member)), []);
  });
}

for (const { path, fields, names, refused } of kNestedFields) {
  test(`${path}: ${refused ? 'refused' : 'ignored'} by name inside a field: ${names}`, async () => {
    const { status, ignored, text } = await send(kRequests.find((request) => request.path === path), fields);
    assert.equal(status, refused ? 400 : 200, text);
    if (refused) names.forEach((name) => assert.ok(text.includes(name), text));
    else assert.deepEqual(ignored.sort(), [...names].sort());
  });
}
