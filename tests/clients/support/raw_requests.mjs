// Requests that the SDK's client does not know, over the transport of one that is connected.

// request({method, params}) -> the response, {result} or {error}; of the client's other messages nothing is taken.
export function raw_requests(transport) {
  const waiting = new Map();
  const hand_on = transport.onmessage;
  let next_id = 1;
  transport.onmessage = (message, extra) => {
    const resolve = 'method' in message ? undefined : waiting.get(message.id);
    if (!resolve) return hand_on(message, extra);
    waiting.delete(message.id);
    resolve(message);
  };
  return ({ method, params }) => {
    const id = `raw-${next_id++}`;
    return new Promise((resolve, reject) => {
      waiting.set(id, resolve);
      const headers = params.taskId === undefined ? {} : { headers: { 'Mcp-Name': params.taskId } };
      transport.send({ jsonrpc: '2.0', id, method, params }, headers).catch(reject);
    });
  };
}
