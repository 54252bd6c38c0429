// What is entered where, for each program. `at` is the server's address, `model` a model's name. The pages in docs/clients
// say the same at length.
const json = (value) => JSON.stringify(value, null, 2);

// A model's name is its file's, which a hub may have chosen: `it's-$(id)`. word() makes it a word of a shell, quoted() a text
// in quotes, which is the same in JSON, JavaScript, Python, TOML and YAML.
const word = (text) => (/^[\w./:=@%+,-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`);
const quoted = (text) => JSON.stringify(text);

export const kSnippets = {
  curl: ({ at, model }) => `curl ${word(`${at}/v1/chat/completions`)} \\
  -H 'Authorization: Bearer ACCESS_TOKEN' -H 'Content-Type: application/json' \\
  -d ${word(JSON.stringify({ model, messages: [{ role: 'user', content: 'Hello' }] }))}`,
  'openai (Python)': ({ at, model }) => `from openai import OpenAI

client = OpenAI(base_url=${quoted(`${at}/v1`)}, api_key="ACCESS_TOKEN")
for chunk in client.chat.completions.create(
        model=${quoted(model)}, messages=[{"role": "user", "content": "Hello"}], stream=True):
    print(chunk.choices[0].delta.content or "", end="", flush=True)`,
  'openai (Node)': ({ at, model }) => `import OpenAI from 'openai';

const client = new OpenAI({ baseURL: ${quoted(`${at}/v1`)}, apiKey: 'ACCESS_TOKEN' });
const answer = await client.chat.completions.create({ model: ${quoted(model)}, messages: [{ role: 'user', content: 'Hello' }] });
console.log(answer.choices[0].message.content);`,
  'anthropic (Python)': ({ at, model }) => `from anthropic import Anthropic

client = Anthropic(base_url=${quoted(at)}, api_key="ACCESS_TOKEN")
message = client.messages.create(
    model=${quoted(model)}, max_tokens=500, messages=[{"role": "user", "content": "Hello"}])
print(message.content[0].text)`,
  'ollama (Python)': ({ at, model }) => `from ollama import Client

client = Client(host=${quoted(at)}, headers={"Authorization": "Bearer ACCESS_TOKEN"})
print(client.chat(model=${quoted(model)}, messages=[{"role": "user", "content": "Hello"}]).message.content)`,
  LangChain: ({ at, model }) => `from langchain_openai import ChatOpenAI

model = ChatOpenAI(base_url=${quoted(`${at}/v1`)}, api_key="ACCESS_TOKEN", model=${quoted(model)})
print(model.invoke("Hello").content)`,
  'Open WebUI': ({ at }) => `Admin Settings, Connections, OpenAI API
URL: ${at}/v1
Key: ACCESS_TOKEN`,
  'Home Assistant': ({ at, model }) => `Settings, Devices & services, Add integration, Ollama
URL: ${at}
Model: ${model}
API key: ACCESS_TOKEN (where there is no such field, the server must ask for none)`,
  Continue: ({ at, model }) => `name: Board
version: 0.0.1
schema: v1
models:
  - name: Board
    provider: openai
    model: ${quoted(model)}
    apiBase: ${at}/v1
    apiKey: ACCESS_TOKEN`,
  Zed: ({ at, model }) => `// Zed asks for the API key when the model is chosen: ACCESS_TOKEN
${json({ language_models: { openai_compatible: { Board: { api_url: `${at}/v1`, available_models: [{ name: model, max_tokens: 4096 }] } } } })}`,
  'VS Code (chat)': ({ at }) => `Chat: Manage Language Models, Ollama
Endpoint: ${at}

Where the server asks for an access token: Custom Endpoint (OpenAI Compatible)
URL: ${at}/v1
API key: ACCESS_TOKEN`,
  'VS Code (MCP)': ({ at }) =>
    json({ servers: { rkllm: { type: 'http', url: `${at}/mcp`, headers: { Authorization: 'Bearer ACCESS_TOKEN' } } } }),
  Cursor: ({ at }) => json({ mcpServers: { rkllm: { url: `${at}/mcp`, headers: { Authorization: 'Bearer ACCESS_TOKEN' } } } }),
  // The program is one of the board's: Claude Desktop runs elsewhere.
  'Claude Desktop': ({ at }) =>
    json({ mcpServers: { rkllm: { command: 'ssh', args: [new URL(at).hostname.replace(/^\[|\]$/g, ''), '/path/to/rkllm-mcp', 'connect', word(`${at}/mcp`), '--token', 'ACCESS_TOKEN'] } } }),
  'Claude Code (MCP)': ({ at }) => `claude mcp add --transport http rkllm ${word(`${at}/mcp`)} --header "Authorization: Bearer ACCESS_TOKEN"`,
  'Claude Code (model)': ({ at, model }) => `ANTHROPIC_BASE_URL=${word(at)} ANTHROPIC_AUTH_TOKEN=ACCESS_TOKEN ANTHROPIC_MODEL=${word(model)} claude`,
  Codex: ({ at, model }) => `model = ${quoted(model)}
model_provider = "board"

[model_providers.board]
name = "Board"
base_url = ${quoted(`${at}/v1`)}
env_key = "RKLLM_MCP_TOKEN"  # has the access token; without one leave this line out
wire_api = "responses"`,
  opencode: ({ at, model }) =>
    json({
      provider: {
        board: {
          npm: '@ai-sdk/openai-compatible',
          options: { baseURL: `${at}/v1`, apiKey: 'ACCESS_TOKEN' },
          models: { [model]: { limit: { context: 16384, output: 1024 } } },
        },
      },
      model: `board/${model}`,
      compaction: { auto: false },
    }),
  'rkllm-mcp': ({ at }) => `RKLLM_MCP_TOKEN=ACCESS_TOKEN rkllm-mcp connect ${word(`${at}/mcp`)}`,
};
