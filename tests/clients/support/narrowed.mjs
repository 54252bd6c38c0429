// A value reduced to what a JSON Schema knows: arguments of the newest version become those of an older one.
export function narrowed(value, schema, root = schema) {
  const { $ref, oneOf, items, properties } = schema;
  if ($ref) return narrowed(value, root.$defs[$ref.slice('#/$defs/'.length)], root);
  if (oneOf) return narrowed(value, oneOf.find(({ type }) => (type === 'array') === Array.isArray(value)), root);
  if (Array.isArray(value)) return items ? value.map((each) => narrowed(each, items, root)) : value;
  if (value === null || typeof value !== 'object' || !properties) return value;
  const known = Object.entries(value).filter(([name]) => name in properties);
  return Object.fromEntries(known.map(([name, member]) => [name, narrowed(member, properties[name], root)]));
}
