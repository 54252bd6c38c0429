// Mastra: an agent with the tools that @mastra/mcp makes.
import { test } from 'node:test';

import { Agent } from '@mastra/core/agent';
import { MCPClient } from '@mastra/mcp';

import { with_board } from './support/with_board.mjs';

const servers = {
  stdio: ({ stdio }) => ({ ...stdio, stderr: 'ignore' }),
  http: ({ url }) => ({ url: new URL(url) }),
};

for (const [kind, server] of Object.entries(servers)) {
  const name_of = (name) => `board_${name}`;
  test(`Mastra uses the board over ${kind}`, () => with_board({ name_of }, async (place, model) => {
    const client = new MCPClient({ id: kind, servers: { board: server(place) }, timeout: 200_000 });
    const agent = new Agent({ id: 'agent', name: 'agent', instructions: 'Use the board.', tools: await client.listTools(),
      model: { id: 'scripted/scripted', url: `${model.url}/v1`, apiKey: 'none' } });
    await agent.generate('Use the board.', { maxSteps: 20 });
    await client.disconnect();
  }));
}
