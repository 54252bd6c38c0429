// Every single-place change of a JSON value that is likely to be wrong, or just barely right.

const kIntegers = [
  -(2 ** 53), -(2 ** 31) - 1, -(2 ** 31), -3, -2, -1, 0, 1, 2, 3, 4, 8, 9, 100, 101, 127, 128, 255, 256,
  2 ** 31 - 1, 2 ** 31, 2 ** 32 - 1, 2 ** 32, 2 ** 65,
];
const kFractions = [-2.5, -0.5, 0.5, 1.0001, 2.5, 1e39, -1e39];
const kOthers = [null, true, false, '', 'x', '1', 'a\0b', 'RKLLM_NONSENSE', [], [1], ['x'], [null], {}, { x: 1 }];
// Base64 of an infinite float, with a line break, without its end, of another alphabet, of three bytes, and with bits
// behind its end.
const kStrings = ['AACAfw==', 'AAAA\nAAA=', 'AAAAAA', 'AAA-AA==', 'AAAA', 'AAAAAB=='];

function* values_instead_of(value) {
  yield* kOthers;
  if (typeof value === 'string') yield* kStrings;
  yield* [-1, 0, 1, 2.5];
  if (typeof value === 'number' || typeof value === 'boolean') {
    yield* kIntegers;
    yield* kFractions;
  }
}

// The value with its part at `path` replaced, or taken out if `part` is undefined.
function changed(value, path, part) {
  if (path.length === 0) return part;
  const [key, ...rest] = path;
  if (Array.isArray(value)) return value.map((each, at) => (at === key ? changed(each, rest, part) : each));
  const copy = { ...value, [key]: changed(value[key], rest, part) };
  if (copy[key] === undefined) delete copy[key];
  return copy;
}

// [what was done, the changed value], for every part of `value` but its root.
export function* mutants(value, part = value, path = []) {
  const at = path.join('.');
  if (path.length > 0) {
    for (const other of values_instead_of(part)) {
      yield [`${at} = ${JSON.stringify(other)}`, changed(value, path, other)];
    }
  }
  if (Array.isArray(part)) {
    yield [`${at} gets one element more`, changed(value, path, [...part, part[0]])];
    if (part.length > 0) yield* mutants(value, part[0], [...path, 0]);
  } else if (part !== null && typeof part === 'object') {
    yield [`${at || 'the root'} gets an unknown field`, changed(value, path, { ...part, unknown_field: 1 })];
    for (const [key, member] of Object.entries(part)) {
      yield [`${[...path, key].join('.')} is left out`, changed(value, [...path, key], undefined)];
      yield* mutants(value, member, [...path, key]);
    }
  }
}
