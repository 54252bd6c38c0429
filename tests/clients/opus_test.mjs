// The example of Opus, arrays in and out, as the official clients see it.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';

import { connect_by } from './support/connect.mjs';

for (const name of ['v1', 'v2-legacy']) {
  describe(`an encoder of sound over stdio, ${name}`, () => {
    let client;
    const call = (called, args = {}) => client.callTool({ name: called, arguments: args });
    const tool = async (called, args) => {
      const { structuredContent, isError } = await call(called, args);
      assert.notEqual(isError, true);
      return structuredContent;
    };
    const kFrame = 80; // 10 ms
    const tone = Array.from({ length: 2 * kFrame }, (_, i) => Math.round(9000 * Math.sin(i / 5)));

    before(async () => {
      ({ client } = await connect_by(name, ({ StdioClientTransport }) =>
        new StdioClientTransport({ command: process.env.TESTED_EXAMPLE, args: [], stderr: 'ignore' })));
    });
    after(() => client.close());

    test('arrays that a parameter and a handle value count go in, and come out as long as the function says', async () => {
      assert.deepEqual(await tool('opus_encoder_create', { Fs: 8000, channels: 2 }), { handle: 'encoder-1', error: 0 });
      const { value, data } = await tool('opus_encode', { pcm: tone });
      assert.ok(value > 2 && value < 200, `${value} bytes`);
      assert.equal(data.length, value);
      assert.ok(data.every((byte) => Number.isInteger(byte) && byte >= 0 && byte <= 255));
      assert.deepEqual(await tool('opus_packet_get_nb_samples', { packet: data, Fs: 8000 }), { value: kFrame });
      const parsed = await tool('opus_packet_parse', { data });
      assert.equal(parsed.value, 1);
      assert.deepEqual(parsed.size, [data.length - parsed.payload_offset]);
      assert.equal(parsed.out_toc, data[0]);
    });

    test('an array of another length is refused before the library reads behind it', async () => {
      const { isError, content } = await call('opus_encode', { pcm: tone, frame_size: 2 * kFrame });
      assert.equal(isError, true);
      assert.match(content[0].text, /pcm: expected 160 \(frame_size\) \* 2 \(channels\) values, found 160/);
      const odd = await call('opus_encode', { pcm: tone.slice(1) });
      assert.match(odd.content[0].text, /pcm: expected frame_size \* 2 \(channels\) values, found 159/);
    });

    test('what the library refuses leaves nothing in an array', async () => {
      assert.deepEqual(await tool('opus_encode', { pcm: [1, 2] }), { value: -1, data: [] });
      assert.deepEqual(await tool('opus_encoder_destroy'), {});
    });
  });
}
