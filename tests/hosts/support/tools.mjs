// What a host makes of the server's tools must leave a model everything that it needs to call them.

// What is wrong with the tools that a host offers, in words. `published`: the server's own list; name_of(C name): the
// host's name; `lost`: how many descriptions of arguments the host may drop, by the tool's C name.
export function tool_complaints(offered, published, name_of, lost = {}) {
  return published.filter(({ name }) => name.startsWith('rkllm_') || kChatSet.includes(name))
    .flatMap((tool) => complaints(offered.get(name_of(tool.name)), tool, lost[tool.name] ?? 0)
      .map((complaint) => `${tool.name}: ${complaint}`));
}

const kChatSet = ['list_models', 'load_model', 'chat', 'embed', 'stop', 'status', 'unload_model'];

function complaints(tool, { description, inputSchema }, may_be_lost) {
  if (!tool) return ['is not offered'];
  const found = [];
  if (!tool.description?.includes(description.slice(0, 60))) found.push(`is described as ${tool.description}`);
  if (tool.schema?.type !== 'object') found.push('takes no object');
  for (const name of keys(inputSchema)) {
    if (!keys(tool.schema).includes(name)) found.push(`does not take ${name}`); // hosts may add arguments of their own
  }
  const lost = descriptions(inputSchema) - descriptions(tool.schema);
  if (lost > may_be_lost) found.push(`the host drops ${lost} descriptions of arguments`);
  return found.concat(untyped(tool.schema).map((path) => `no type at ${path}`));
}

const keys = (schema) => Object.keys(schema?.properties ?? {});

// [path, schema] of a schema and of every one within it.
function* schemas(schema, path = '') {
  if (!schema || typeof schema !== 'object') return;
  yield [path, schema];
  for (const member of ['properties', '$defs', 'definitions']) {
    for (const [name, inner] of Object.entries(schema[member] ?? {})) yield* schemas(inner, `${path}/${name}`);
  }
  for (const list of ['anyOf', 'oneOf', 'allOf']) {
    for (const [index, inner] of (schema[list] ?? []).entries()) yield* schemas(inner, `${path}/${list}/${index}`);
  }
  yield* schemas(schema.items, `${path}/items`);
}

const descriptions = (schema) => [...schemas(schema)].filter(([path, { description }]) => path && description).length;

const kSaysWhatItIs = ['type', '$ref', 'anyOf', 'oneOf', 'allOf', 'const'];

const untyped = (schema) => [...schemas(schema)]
  .filter(([, inner]) => !kSaysWhatItIs.some((keyword) => keyword in inner)).map(([path]) => path);
