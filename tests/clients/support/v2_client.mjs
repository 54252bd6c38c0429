// Version 2 of the official SDK: its client, which knows the handshake and revision 2026-07-28, and its transports.
import { Client, ReadBuffer, SSEClientTransport, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';

import { FrameTransport } from './frame_transport.mjs';

export class V2Client extends Client {
  static sdk = { ReadBuffer, SSEClientTransport, StdioClientTransport, StreamableHTTPClientTransport,
    WebSocketTransport: FrameTransport };

  // `mode`: 'legacy' shakes hands, 'auto' asks first which revisions there are, {pin} wants that revision.
  constructor(info, { capabilities = {}, mode }) {
    super(info, { capabilities, versionNegotiation: { mode } });
  }

  is_stateless() {
    return this.getProtocolEra() === 'modern';
  }

  // Calls `listener` with the params of every such notification.
  on(method, listener) {
    this.setNotificationHandler(method, ({ params }) => listener(params));
  }

  // Wants to hear of these resources, and of all lists, until the function that it gives is called.
  async watch(uris) {
    if (this.is_stateless()) {
      const subscription = await this.listen({
        resourceSubscriptions: uris, resourcesListChanged: true, toolsListChanged: true, promptsListChanged: true,
      });
      return () => subscription.close();
    }
    for (const uri of uris) await this.subscribeResource({ uri });
    return async () => {
      for (const uri of uris) await this.unsubscribeResource({ uri });
    };
  }

  // Asks whether the server is there.
  async knock() {
    await (this.is_stateless() ? this.discover() : this.ping());
  }
}
