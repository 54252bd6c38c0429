// Version 1 of the official SDK: its client, which knows revisions up to 2025-11-25, and its transports.
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { SSEClientTransport } from '@modelcontextprotocol/sdk/client/sse.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { WebSocketClientTransport } from '@modelcontextprotocol/sdk/client/websocket.js';
import { ReadBuffer } from '@modelcontextprotocol/sdk/shared/stdio.js';
import * as types from '@modelcontextprotocol/sdk/types.js';
import { WebSocket } from 'ws';

globalThis.WebSocket = WebSocket; // what the SDK's transport uses; Node.js before 22 has none of its own

const kNotifications = [
  types.LoggingMessageNotificationSchema, types.ResourceUpdatedNotificationSchema,
  types.ResourceListChangedNotificationSchema, types.ToolListChangedNotificationSchema,
  types.PromptListChangedNotificationSchema,
];

export class V1Client extends Client {
  static sdk = { ReadBuffer, SSEClientTransport, StdioClientTransport, StreamableHTTPClientTransport,
    WebSocketTransport: WebSocketClientTransport };

  constructor(info, { capabilities = {} }) {
    super(info, { capabilities });
  }

  is_stateless() {
    return false;
  }

  callTool(params, options) {
    return super.callTool(params, undefined, options);
  }

  // Calls `listener` with the params of every such notification.
  on(method, listener) {
    const schema = kNotifications.find(({ shape }) => shape.method.value === method);
    this.setNotificationHandler(schema, ({ params }) => listener(params));
  }

  // Wants to hear of these resources until the function that it gives is called. (Of lists it hears in any case.)
  async watch(uris) {
    for (const uri of uris) await this.subscribeResource({ uri });
    return async () => {
      for (const uri of uris) await this.unsubscribeResource({ uri });
    };
  }

  // Asks whether the server is there.
  async knock() {
    await this.ping();
  }
}
