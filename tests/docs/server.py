"""A server on the simulator and on free ports, for one snippet, and what the snippet's names stand for meanwhile."""
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

TOKEN = "a-token-of-the-tests-0123456789"
MODEL = "llm-1"  # the name of a model's first handle
# The ports that documents name.
PORTS = {"8080": "http", "8081": "tcp", "8082": "udp", "8083": "ws"}
UNTIL_READY = os.path.join(os.path.dirname(__file__), "..", "support", "until_ready.py")
# Commands that lead to another machine; here they lead back.
STAND_INS = {"ssh": 'shift\nexec "$@"\n', "wsl.exe": 'exec "$@"\n'}


class Server:
    """Runs until close(). `place` is a folder that looks like the repository's, where snippets run."""

    def __init__(self, root, program, surroundings, parent=None):
        self.program = program
        self.place = tempfile.mkdtemp(prefix="snippet.", dir=parent)
        os.symlink(os.path.join(root, "simulator"), os.path.join(self.place, "simulator"))
        self._process = None
        try:
            self._prepare(surroundings)
            self._start(surroundings)
        except BaseException:
            self.close()
            raise

    def _prepare(self, surroundings):
        self.environment = {
            **{name: value for name, value in os.environ.items() if not name.startswith("RKLLM_")},
            "HOME": self.place,
            "PATH": os.path.join(self.place, "stand-ins") + os.pathsep + os.environ["PATH"],
            "RKLLM_MCP_SETTINGS": os.path.join(self.place, "settings.json"),
            "RKLLM_MCP_RUNTIME_CACHE_DIR": os.path.join(self.place, "cache"),
        }
        if surroundings == "tokens":
            self.environment["RKLLM_MCP_TOKEN"] = TOKEN
        os.mkdir(os.path.join(self.place, "stand-ins"))
        for name, script in STAND_INS.items():
            path = os.path.join(self.place, "stand-ins", name)
            with open(path, "w", encoding="utf-8") as file:
                file.write("#!/bin/sh\n" + script)
            os.chmod(path, 0o755)

    def _start(self, surroundings):
        ports_file = os.path.join(self.place, "ports.json")
        command = [self.program, "serve", "--simulator", "--ports-file", ports_file]
        for transport in PORTS.values():
            command += ["--set", f"{transport}.port=0"]
        if surroundings == "tokens":
            tokens = os.path.join(self.place, "tokens")
            with open(os.open(tokens, os.O_CREAT | os.O_WRONLY, 0o600), "w", encoding="utf-8") as file:
                file.write(f"snippets {TOKEN}\n")
            command += ["--set", f"auth.tokens={tokens}"]
        self._log = open(os.path.join(self.place, "log"), "w+", encoding="utf-8")
        self._process = subprocess.Popen([sys.executable, UNTIL_READY, "30", *command], cwd=self.place,
                                         env=self.environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                         stderr=self._log)
        with self._process.stdout as said:
            if not said.readline():
                self._log.seek(0)
                raise RuntimeError("the server does not start:\n" + self._log.read())
        with open(ports_file, encoding="utf-8") as file:
            ports = json.load(file)
        self.ports = {named: str(ports[transport]["port"]) for named, transport in PORTS.items()}
        for named, transport in PORTS.items():
            self.environment[f"RKLLM_MCP_{transport.upper()}_PORT"] = self.ports[named]
        if surroundings == "model":
            self.load_model()

    def load_model(self):
        model = {"param": {"model_path": "simulator/models/rk3588-1.5b.json"}}
        subprocess.run([self.program, "call", "rkllm_init", json.dumps(model)], cwd=self.place, env=self.environment,
                       check=True, stdout=subprocess.DEVNULL)

    def localized(self, text):
        """The text with what is here in place of what the document names."""
        text = re.sub(r"(?<![\w.])(/path/to|build/dev/bin)/(?=\w)", os.path.dirname(self.program) + "/", text)
        text = re.sub(r"\bTOKEN\b", TOKEN, text)
        text = re.sub(r"\bMODEL\b", MODEL, text)
        text = re.sub(r"\b808[0-3]\b", lambda port: self.ports[port[0]], text)
        return text.replace("board.local:", "127.0.0.1:")

    def generalized(self, text):
        """The text with what the document names in place of this server's ports: localized() backwards."""
        for named, port in self.ports.items():
            text = re.sub(rf"\b{port}\b", named, text)
        return text

    def close(self):
        if self._process is not None and self._process.poll() is None:
            self._process.terminate()
            try:
                self._process.wait(timeout=10)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()
        shutil.rmtree(self.place, ignore_errors=True)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()
