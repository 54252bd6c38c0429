#!/usr/bin/env python3
"""Becomes a server, and has a process beside it say `ready` when the server is.

    until_ready.py SECONDS PROGRAM [ARGUMENT...]

A script that starts a server has nothing to wait for but a line of this program's standard output: `ready` comes when the
server has told its service manager so (sd_notify(3)), which is after its ports file is there. Instead of it the output
ends when the server has ended, or after SECONDS. The process id is the server's, and so is how it ends; what the server
itself prints on standard output is dropped.
"""
import os
import select
import signal
import socket
import sys


def wait(manager, server, seconds):
    """Whether the server has become ready in time. `manager`: the socket that it tells."""
    if not select.select([manager, server], [], [], seconds)[0]:
        return False
    try:
        return b"READY=1" in manager.recv(4096, socket.MSG_DONTWAIT).split(b"\n")
    except BlockingIOError:
        return False  # it has ended


def main():
    seconds, command = float(sys.argv[1]), sys.argv[2:]
    manager = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    name = f"until-ready.{os.getpid()}.{os.urandom(8).hex()}"
    manager.bind("\0" + name)  # of no file, so that nothing is left of it
    server = os.pidfd_open(os.getpid())
    between = os.fork()
    if between == 0:
        if os.fork() == 0 and wait(manager, server, seconds):  # no child of the server's, which knows of none
            print("ready", flush=True)
        os._exit(0)
    os.waitpid(between, 0)
    for ignored_by_python in (signal.SIGPIPE, signal.SIGXFSZ):
        signal.signal(ignored_by_python, signal.SIG_DFL)
    os.environ["NOTIFY_SOCKET"] = "@" + name
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    os.execvp(command[0], command)


if __name__ == "__main__":
    main()
