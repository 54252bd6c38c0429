#!/usr/bin/env python3
"""A server with the shape of the vendor's Flask demo, written anew: a thread puts tokens into a global list, a generator
looks there every few milliseconds and sends one JSON text for each. The tokens come from a loop and not from a library: no
time is spent on a model, or on calls from C. Without Flask (Debian: python3-flask) http.server does the same.
Usage: flask_shape.py FILE; the port and what serves are written there."""
import json
import os
import re
import sys
import threading

tokens = []
lock = threading.Lock()


def generate(count):
    for number in range(count):
        tokens.append("This" if number == 0 else " is")


def answer(asked):
    """The texts to be sent, one by one."""
    count = int(re.match(r"@n=(\d+)", asked["messages"][-1]["content"]).group(1))
    with lock:
        tokens.clear()
        made = threading.Thread(target=generate, args=(count,))
        made.start()
        finished = False
        while not finished or tokens:
            while tokens:
                delta = {"role": "assistant", "content": tokens.pop(0)}
                yield json.dumps({"id": "rkllm_chat", "object": "rkllm_chat", "created": None, "usage": None, "choices": [
                    {"index": 0, "delta": delta, "logprobs": None, "finish_reason": None}]}) + "\n\n"
            made.join(timeout=0.005)
            finished = not made.is_alive()


def flask_server():
    from importlib.metadata import version
    import logging

    from flask import Flask, Response, request
    from werkzeug.serving import make_server
    logging.getLogger("werkzeug").disabled = True
    app = Flask(__name__)

    @app.route("/rkllm_chat", methods=["POST"])
    def receive():
        return Response(answer(request.json), content_type="text/plain")

    server = make_server("127.0.0.1", 0, app, threaded=True)
    return server, server.server_port, "Flask " + version("flask")


def plain_server():
    from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self):
            asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            self.send_response(200)
            self.end_headers()
            for text in answer(asked):
                self.wfile.write(text.encode())

        def log_message(self, *_):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    return server, server.server_port, "http.server, for want of Flask"


def main():
    try:
        server, port, kind = flask_server()
    except ImportError:
        server, port, kind = plain_server()
    unfinished = sys.argv[1] + ".new"
    with open(unfinished, "w", encoding="utf-8") as file:
        json.dump({"port": port, "kind": f"{kind}, Python {sys.version.split()[0]}"}, file)
    os.rename(unfinished, sys.argv[1])
    server.serve_forever()


main()
