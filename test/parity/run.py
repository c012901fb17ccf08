"""Runs parity tests: run.py LOGS JOBS FILE...; JOBS of them at once. What each prints goes to LOGS/parity-NAME.log. Ends with 1
where a test has failed.

To load TensorFlow takes five seconds of processor. It is loaded once, before any of its state is made, and each test
that needs it is a child of this process. The others run by themselves."""

import gc
import os
import re
import runpy
import signal
import subprocess
import sys
import time

import muster

LONGEST = 900  # seconds that a test may take
# Keras warns of each .h5 file, and of each that is compiled again.
QUIET = re.compile(rb"^WARNING:(absl|tensorflow):")


def name_of(file):
    return os.path.basename(file).removesuffix(".py")


def needs_tensorflow(file):
    with open(file) as text:
        return "muster.tensorflow()" in text.read()


def become_test(file, log):
    """In the child: FILE as a program of its own. Ends with what it ends with."""
    os.setpgid(0, 0)
    output = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    os.dup2(output, 1)
    os.dup2(output, 2)
    os.close(output)
    sys.argv = [file]
    if needs_tensorflow(file):
        runpy.run_path(file, run_name="__main__")
        sys.exit(0)
    os.execv(sys.executable, [sys.executable, file])


def wait_for_one(running):
    """The test that ends first, its exit status, and the processor time in seconds that it and its children took. A test
    that takes too long is killed, with all that it has started."""
    while True:
        for pid, (_, began) in running.items():
            ended, status, used = os.wait4(pid, os.WNOHANG)
            if ended:
                return pid, os.waitstatus_to_exitcode(status), used.ru_utime + used.ru_stime
            if time.monotonic() - began > LONGEST:
                os.killpg(pid, signal.SIGKILL)
        time.sleep(0.05)


def report(file, log, status, processor):
    with open(log, "rb") as text:
        lines = [line for line in text if not QUIET.match(line)]
    if status:
        lines.append(f"exit status {status}\n".encode())
    with open(log, "wb") as text:
        text.writelines(lines)
    print(f"-- {file}, {processor:.0f} s of processor", flush=True)
    sys.stdout.buffer.write(b"".join(lines))
    sys.stdout.flush()


def main(logs, jobs, files):
    failed = []
    running = {}
    waiting = sorted(files, key=os.path.getsize, reverse=True)  # those of many lines take longest, so they begin
    if any(map(needs_tensorflow, files)):
        muster.tensorflow()
        import keras  # noqa: F401
    gc.freeze()  # so that children write less of the memory that they share
    while waiting or running:
        while waiting and len(running) < jobs:
            file = waiting.pop(0)
            log = os.path.join(logs, f"parity-{name_of(file)}.log")
            sys.stdout.flush()
            pid = os.fork()
            if pid == 0:
                become_test(file, log)
            running[pid] = (file, time.monotonic())
        pid, status, processor = wait_for_one(running)
        file, _ = running.pop(pid)
        report(file, os.path.join(logs, f"parity-{name_of(file)}.log"), status, processor)
        if status:
            failed.append(file)
    for file in failed:
        print(f"failed: {file}")
        with open(os.path.join(logs, f"parity-{name_of(file)}.log"), errors="replace") as text:
            print("".join(text.readlines()[-40:]), end="")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], int(sys.argv[2]), sys.argv[3:]))
