// OpenAI's Agents SDK: an agent with MCP servers of its own, over OpenAI's responses.
import { test } from 'node:test';

import { Agent, MCPServerStdio, MCPServerStreamableHttp, OpenAIProvider, Runner } from '@openai/agents';

import { with_board } from './support/with_board.mjs';

const servers = {
  stdio: ({ stdio }) => new MCPServerStdio({ name: 'board', ...stdio }),
  http: ({ url }) => new MCPServerStreamableHttp({ name: 'board', url }),
};

for (const [kind, server] of Object.entries(servers)) {
  test(`OpenAI Agents uses the board over ${kind}`, () => with_board({}, async (place, model) => {
    const board = server(place);
    await board.connect();
    const agent = new Agent({ name: 'agent', instructions: 'Use the board.', model: 'scripted', mcpServers: [board] });
    const modelProvider = new OpenAIProvider({ apiKey: 'none', baseURL: `${model.url}/v1`, useResponses: true });
    await new Runner({ modelProvider, tracingDisabled: true }).run(agent, 'Use the board.', { maxTurns: 20 });
    await board.close();
  }));
}
