// The example of LMDB, whose bindings are generated from somebody else's header, as the official clients see it.
import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';

import { connect_by } from './support/connect.mjs';

for (const name of ['v1', 'v2-legacy']) {
  describe(`an LMDB environment over stdio, ${name}`, () => {
    let client;
    let folder;
    const tool = async (called, args = {}) => {
      const { structuredContent, isError } = await client.callTool({ name: called, arguments: args });
      assert.notEqual(isError, true);
      return structuredContent;
    };

    before(async () => {
      folder = await mkdtemp(join(tmpdir(), 'lmdb-'));
      ({ client } = await connect_by(name, ({ StdioClientTransport }) =>
        new StdioClientTransport({ command: process.env.TESTED_EXAMPLE, args: [], stderr: 'ignore' })));
    });
    after(async () => {
      await client.close();
      await rm(folder, { recursive: true });
    });

    test('every chosen function is a tool', async () => {
      const { tools } = await client.listTools();
      assert.equal(tools.length, 14);
      assert.ok(tools.every((each) => each.name.startsWith('mdb_')));
    });

    test('handles, structs that are filled in and texts come as results', async () => {
      assert.deepEqual(await tool('mdb_env_create'), { status: 0, env: 'env-1' });
      assert.deepEqual(await tool('mdb_env_open', { path: folder }), { status: 0 });
      assert.equal((await tool('mdb_env_stat')).stat.ms_entries, 0);
      assert.equal((await tool('mdb_env_info')).stat.me_numreaders, 0);
      assert.equal((await tool('mdb_env_get_path')).path, folder);
      assert.deepEqual(await tool('mdb_env_close'), {});
    });
  });
}
