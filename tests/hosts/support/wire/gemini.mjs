// Google's generateContent: Gemini CLI.
import { send_events, send_json } from './events.mjs';

function read({ tools = [], contents }) {
  const functions = tools.flatMap(({ functionDeclarations = [] }) => functionDeclarations);
  const parts = contents.flatMap(({ parts }) => parts);
  return {
    tools: new Map(functions.map(({ name, description, parameters, parametersJsonSchema }) => [name,
      { description, schema: parametersJsonSchema ?? parameters }])),
    results: parts.filter(({ functionResponse }) => functionResponse)
      .map(({ functionResponse: { id, name, response } }) => ({ id, name, text: response.output ?? JSON.stringify(response) })),
  };
}

function write({ text, calls }, _, response, path) {
  const parts = calls?.map(({ id, name, args }) => ({ functionCall: { id, name, args } })) ?? [{ text }];
  const answer = {
    candidates: [{ index: 0, content: { role: 'model', parts }, finishReason: 'STOP' }],
    usageMetadata: { promptTokenCount: 1, candidatesTokenCount: 1, totalTokenCount: 2 },
    modelVersion: 'scripted',
  };
  if (path.endsWith(':streamGenerateContent')) send_events(response, [{ data: answer }]);
  else send_json(response, answer);
}

const answer_beside = (path) => (path.endsWith(':countTokens') ? { totalTokens: 1 } : undefined);

export const gemini = { path: /:(generateContent|streamGenerateContent|countTokens)$/, read, write, answer_beside };
