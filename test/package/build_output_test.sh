#!/bin/sh
# scripts/packages.sh shows a build as a counter, and the lines of the tools that the build runs as they are, whatever
# they begin with.
set -u
. "$(dirname "$0")/../../scripts/packages.sh"
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder" || exit 1
mkdir -p build/release
failures=0

# Ninja, which prints its status before the name of each step, and lines of tools.
cmake() {
    for step in 1 2 3 4; do
        printf '%s' "$NINJA_STATUS" | sed "s/%f/$step/; s/%t/4/"
        echo "Building C object $step: no end"
        sed -n "${step}p" tools
    done
}

# expect WHAT WANTED: build_release prints WANTED.
expect() {
    got=$(build_release 2>&1)
    [ "$got" = "$2" ] && return
    echo "FAIL $1: printed"
    echo "$got"
    failures=$((failures + 1))
}

: > tools
expect counter 'built 1 of 4
built 2 of 4
built 3 of 4
built 4 of 4'

# a warning of protobuf's compiler; what looks like a counter of another program, or like one that is damaged
while IFS= read -r line; do
    echo "$line" > tools
    expect "line of a tool" "built 1 of 4
$line
built 2 of 4
built 3 of 4
built 4 of 4"
done << 'END'
[libprotobuf WARNING protoc-gen-c/main.cc:44] `protoc-c` is deprecated. Please use `protoc` instead!
[3/4] of another program
[a/b] c
[/] c
[ 50%] c
step
step 1: c
step /: c
step 1/: c
step 1/0: c
step one/two: c
step 1/2 c
 * \
$(echo no) `echo no` %s
END

[ "$failures" = 0 ]
