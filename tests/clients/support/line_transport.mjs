// The SDK's Transport over TCP: one message per line, as on stdio.
import { connect } from 'node:net';
import { ReadBuffer, serializeMessage } from '@modelcontextprotocol/sdk/shared/stdio.js';

export class LineTransport {
  #socket;
  #buffer = new ReadBuffer();
  #port;

  constructor(port) {
    this.#port = port;
  }

  start() {
    return new Promise((resolve, reject) => {
      this.#socket = connect(this.#port, '127.0.0.1', resolve);
      this.#socket.once('error', reject);
      this.#socket.on('error', (error) => this.onerror?.(error));
      this.#socket.on('close', () => this.onclose?.());
      this.#socket.on('data', (bytes) => {
        this.#buffer.append(bytes);
        for (let message = this.#buffer.readMessage(); message; message = this.#buffer.readMessage()) {
          this.onmessage?.(message);
        }
      });
    });
  }

  async send(message) {
    this.#socket.write(serializeMessage(message));
  }

  async close() {
    this.#socket.destroy();
  }
}
