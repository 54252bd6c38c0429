// The SDK's Transport over UDP: one message per datagram.
import { createSocket } from 'node:dgram';

export class DatagramTransport {
  #socket;
  #port;

  constructor(port) {
    this.#port = port;
  }

  start() {
    return new Promise((resolve) => {
      this.#socket = createSocket({ type: 'udp4', recvBufferSize: 1 << 20 });
      this.#socket.on('error', (error) => this.onerror?.(error));
      this.#socket.on('close', () => this.onclose?.());
      this.#socket.on('message', (bytes) => this.onmessage?.(JSON.parse(bytes.toString())));
      this.#socket.connect(this.#port, '127.0.0.1', resolve);
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
