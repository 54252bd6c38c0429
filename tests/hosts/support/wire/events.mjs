// Server-sent events, as all of these protocols stream.
export function send_events(response, events) {
  response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-cache' });
  for (const { event, data } of events) {
    if (event) response.write(`event: ${event}\n`);
    response.write(`data: ${typeof data === 'string' ? data : JSON.stringify(data)}\n\n`);
  }
  response.end();
}

export function send_json(response, value, status = 200) {
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(JSON.stringify(value));
}

// The text in a protocol's content: a string, or parts of which some have text.
export function text_of(content) {
  if (typeof content === 'string') return content;
  if (Array.isArray(content)) return content.map((part) => text_of(part?.text ?? part?.content ?? part)).join('\n');
  return content === undefined ? '' : JSON.stringify(content);
}
