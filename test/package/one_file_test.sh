#!/bin/bash
# One of each kind is one file: in a copy of the tree, adds the files of one_file/src (and the line of a pass), builds,
# uses what they define in a program and in the command, and takes them away again. All of it under the address
# sanitizer.
# Usage: one_file_test.sh WORK, a folder that this script may empty.
set -eu
source=$(cd "$(dirname "$0")/../.." && pwd)
toys=$source/test/package/one_file
rm -rf "$1" && mkdir -p "$1" && cd "$1"
work=$PWD
generated=build/generated/muster
export CCACHE_BASEDIR=$work

# build [--target NAME...]: all, or these.
build() {
    cmake --build build "$@" > build.log 2>&1 || { tail -n 30 build.log; return 1; }
}

# expect TEXT COMMAND...: the command works, and what it prints has TEXT, wherever lines are broken.
expect() {
    local wanted=$1
    shift
    "$@" > out.log 2>&1 || { echo "error: '$*' failed"; tail -n 30 out.log; exit 1; }
    tr -s ' \n' ' ' < out.log | grep -q -e "$wanted" || { echo "error: '$*' does not say '$wanted'"; exit 1; }
}

# refuse MESSAGE FILE NUMBER: with the enumerator of FILE at NUMBER the build stops, and says MESSAGE.
refuse() {
    sed -i "s/ = [0-9]* };/ = $3 };/" "$2"
    if build > /dev/null; then echo "error: $2 with the number $3 was built"; exit 1; fi
    grep -q "$1" build.log || { echo "error: the build does not say '$1'"; tail -n 30 build.log; exit 1; }
}

# next_number FILE: the next free number of its kind, which is that of the enumerator MST_NUM_...; nothing where it has
# none.
next_number() {
    local kind
    kind=$(sed -n 's/^#ifdef MST_\(.*\)_HEADER$/\1/p' "$1")
    [ -z "$kind" ] || sed -n "s/^    MST_NUM_${kind%Y}[A-Z]* = \([0-9]*\)$/\1/p" $generated/*.h
}

echo "-- the tree as it is"
mkdir tree && cp -a "$source"/{CMakeLists.txt,cmake,include,src} tree
cmake -S tree -B build -G Ninja -DCMAKE_BUILD_TYPE=Debug -DCMAKE_C_FLAGS_DEBUG=-O0 -DMUSTER_TESTS=OFF \
    -DMUSTER_SANITIZE=address > cmake.log
build --target generated_headers
cp -a $generated before

echo "-- with one file of each kind"
for file in $(cd "$toys" && find src -name '*.c'); do
    sed "s/NEXT/$(next_number "$toys/$file")/" "$toys/$file" > "tree/$file"
done
sed -i 's/^    PASS(fuse)/    PASS(toy) \\\n&/' tree/src/plan/passes.h
build
cc -std=c17 -Wall -Wextra -Wpedantic -Werror -fsanitize=address -Itree/include -Ibuild/generated "$toys/use.c" \
    -Lbuild -lmuster -Wl,-rpath,"$work/build" -o use
./use
expect "this is the command toy" build/muster toy
expect " toy says that it is one" build/muster help
expect "toy (a toy that is all on the first device)" build/muster train --help
expect "toy:ROWS (zeros, labelled 1)" build/muster train --help
expect "after toy: " build/muster train --data toy:64 --classes 2 --batch-size 8 --epochs 1 --optimizer toy \
    --schedule toy --learning-rate 0.1 --strategy toy --dump-plan toy
expect ", toy over cpu:" build/muster train --data toy:64 --classes 2 --batch-size 8 --steps 1 --strategy toy

echo "-- two files with one number, and a gap in the numbers"
number=$(next_number "$toys/src/loss/toy.c")
refuse "the next free number is $((number - 1))" tree/src/loss/toy.c 0
refuse "no file of losses has number $((number - 1))" tree/src/loss/toy.c "$number"

echo "-- and without them again"
for file in $(cd "$toys" && find src -name '*.c'); do rm "tree/$file"; done
sed -i '/^    PASS(toy)/d' tree/src/plan/passes.h
build --target generated_headers generated/command_table.c
diff -r before $generated
if grep -q toy build/generated/command_table.c; then echo "error: the command toy is still there"; exit 1; fi
