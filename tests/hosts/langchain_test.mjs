// LangChain.js: an agent with the tools that @langchain/mcp-adapters makes.
import { test } from 'node:test';

import { MultiServerMCPClient } from '@langchain/mcp-adapters';
import { ChatOpenAI } from '@langchain/openai';
import { createAgent } from 'langchain';

import { with_board } from './support/with_board.mjs';

const connections = {
  stdio: ({ stdio }) => ({ transport: 'stdio', ...stdio, stderr: 'ignore' }),
  http: ({ url }) => ({ transport: 'http', url }),
};

for (const [transport, connection] of Object.entries(connections)) {
  test(`LangChain.js uses the board over ${transport}`, () => with_board({}, async (place, model) => {
    const client = new MultiServerMCPClient({ mcpServers: { board: connection(place) }, throwOnLoadError: true });
    const llm = new ChatOpenAI({ model: 'scripted', apiKey: 'none', configuration: { baseURL: `${model.url}/v1` } });
    const agent = createAgent({ model: llm, tools: await client.getTools() });
    await agent.invoke({ messages: [{ role: 'user', content: 'Use the board.' }] }, { recursionLimit: 50 });
    await client.close();
  }));
}
