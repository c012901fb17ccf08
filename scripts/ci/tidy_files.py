"""Runs clang-tidy on files of a build, which reports the warnings of clang too: tidy_files.py BUILD JOBS REGEX [OPTION...];
OPTIONs are passed on to clang-tidy.

A file in which nothing was found is not looked at again, here or in another clone, until it changes, or a header, a flag,
.clang-tidy, or clang-tidy itself. So it is with ccache, too, and a change of ten files is looked at within a minute. What
is known lies in ~/.cache/muster-tidy, for thirty days after its last use: an empty file for each, whose name is the hash
of what decides. Prints what is found, and how many files were looked at. Ends with 1 where something was found.
"""

import hashlib
import json
import os
import re
import shlex
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor

KEPT = 30 * 86400  # seconds
KNOWN = os.path.join(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"), "muster-tidy")


def run(command, folder="."):
    """The exit status of COMMAND, and all that it prints."""
    ended = subprocess.run(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    return ended.returncode, ended.stdout


def compile_with(entry, *instead):
    """Runs clang as ENTRY says, with other options INSTEAD of the output file."""
    words = shlex.split(entry["command"])
    place = words.index("-o")
    words[place:place + 2] = instead
    return run(words, entry["directory"])


def look_at(file, entries, common, command):
    """Whether FILE has no finding, and what was printed; None: it was known to have none."""
    name = hashlib.sha256(common)
    for entry in entries:
        # What clang-tidy sees: after the preprocessor, with the comments, as NOLINT is one, and the macros.
        status, text = compile_with(entry, "-E", "-C", "-P", "-dD")
        if status:
            return False, text
        flags = entry["command"].replace(entry["directory"], "").replace(os.getcwd(), "")
        name.update(flags.encode() + b"\0" + text)
    mark = os.path.join(KNOWN, name.hexdigest())
    if os.path.exists(mark):
        os.utime(mark)
        return True, None
    status, text = run([*command, file]) # as each of the entries says
    if not status:
        open(mark, "w").close()
    return not status, text


def forget_old():
    for mark in os.scandir(KNOWN):
        if mark.stat().st_mtime < time.time() - KEPT:
            os.unlink(mark.path)


def main(build, jobs, regex, *options):
    command = ["clang-tidy", "-quiet", "-p", build, *options]
    version = b"".join(run([name, "--version"])[1] for name in ("clang", "clang-tidy"))
    with open(".clang-tidy", "rb") as rules:
        common = b"\0".join([version, rules.read(), *map(str.encode, options)])
    entries = {}
    with open(os.path.join(build, "compile_commands.json")) as commands:
        for entry in json.load(commands):
            if re.search(regex, entry["file"]):
                entries.setdefault(entry["file"], []).append(entry)
    os.makedirs(KNOWN, exist_ok=True)
    forget_old()
    looked = failed = 0
    with ThreadPoolExecutor(int(jobs)) as pool:
        for clean, printed in pool.map(lambda file: look_at(file, entries[file], common, command), entries):
            looked += printed is not None
            failed += not clean
            if not clean:
                print(printed.decode(errors="replace"), flush=True)
    print(f"{len(entries)} files, {looked} of them looked at, the others known; {failed} with findings")
    return 1 if failed or not entries else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
