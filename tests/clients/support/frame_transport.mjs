// The SDK's Transport over WebSocket, for the SDK's second version, which has none: one message per text frame,
// subprotocol mcp, as the first version does it.
import { WebSocket } from 'ws';

export class FrameTransport {
  #socket;
  #url;

  constructor(url) {
    this.#url = url;
  }

  start() {
    return new Promise((resolve, reject) => {
      this.#socket = new WebSocket(this.#url, 'mcp');
      this.#socket.once('open', resolve);
      this.#socket.once('error', reject);
      this.#socket.on('error', (error) => this.onerror?.(error));
      this.#socket.on('close', () => this.onclose?.());
      this.#socket.on('message', (text) => this.onmessage?.(JSON.parse(text)));
    });
  }

  send(message) {
    return new Promise((resolve, reject) => {
      this.#socket.send(JSON.stringify(message), (error) => (error ? reject(error) : resolve()));
    });
  }

  async close() {
    this.#socket.close();
  }
}
