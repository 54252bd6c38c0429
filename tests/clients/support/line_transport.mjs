// The SDK's Transport over TCP and Unix sockets: one message per line, as on stdio.
import { connect } from 'node:net';

export class LineTransport {
  #socket;
  #buffer;
  #address;

  // `address`: {host, port} or {path}; `buffer`: the SDK's own ReadBuffer.
  constructor(address, buffer) {
    this.#address = address;
    this.#buffer = buffer;
  }

  start() {
    return new Promise((resolve, reject) => {
      this.#socket = connect(this.#address, resolve);
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
    this.#socket.write(`${JSON.stringify(message)}\n`);
  }

  async close() {
    this.#socket.destroy();
  }
}
