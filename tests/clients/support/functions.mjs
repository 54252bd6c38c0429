// What the server says of each function in its documents: the whole schemas, where the list of tools has short ones.
export async function read_functions(client) {
  const read = async (uri) => JSON.parse((await client.readResource({ uri })).contents[0].text);
  const { functions } = await read('rkllm://api');
  const all = [];
  for (const { name } of functions) all.push(await read(`rkllm://api/functions/${name}`));
  return all;
}
