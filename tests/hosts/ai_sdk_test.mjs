// Vercel's AI SDK: generateText with the tools that @ai-sdk/mcp makes.
import { test } from 'node:test';

import { createMCPClient } from '@ai-sdk/mcp';
import { Experimental_StdioMCPTransport as StdioMCPTransport } from '@ai-sdk/mcp/mcp-stdio';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { generateText, stepCountIs } from 'ai';

import { with_board } from './support/with_board.mjs';

const transports = {
  stdio: ({ stdio }) => new StdioMCPTransport({ ...stdio, stderr: 'ignore' }),
  http: ({ url }) => ({ type: 'http', url }),
};

for (const [kind, transport] of Object.entries(transports)) {
  test(`AI SDK uses the board over ${kind}`, () => with_board({}, async (place, model) => {
    const client = await createMCPClient({ transport: transport(place) });
    const llm = createOpenAICompatible({ name: 'scripted', baseURL: `${model.url}/v1` })('scripted');
    await generateText({ model: llm, tools: await client.tools(), stopWhen: stepCountIs(20), prompt: 'Use the board.' });
    await client.close();
  }));
}
