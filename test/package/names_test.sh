#!/bin/sh
# scripts/check-names says where names stand that do not tell apart what they name, and takes those that do.
set -u
script=$(cd "$(dirname "$0")/../../scripts" && pwd)/check-names
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$work/src/base" "$work/src/run" "$work/include/muster"
failures=0

# expect WHAT WANTED: the first line that check-names prints of the files in $work is WANTED.
expect() {
    got=$(sh "$script" "$work" | head -n 1)
    [ "$got" = "$2" ] && return
    echo "FAIL $1: printed"
    echo "$got"
    failures=$((failures + 1))
}

# src LINE..., other LINE..., public LINE...: what three headers are.
src() { printf '%s\n' "$@" > "$work/src/base/one.h"; }
other() { printf '%s\n' "$@" > "$work/src/run/two.h"; }
public() { printf '%s\n' "$@" > "$work/include/muster/three.h"; }

src 'typedef struct mst_part {' '    int from;' '} mst_part;'
other 'typedef struct mst_part mst_part;' 'struct mst_part;'
public 'typedef struct mst_part mst_part;'
expect 'a type that others declare without its members' '0 names that say too little'

other '' 'typedef struct mst_part {' '    int first;' '} mst_part;'
expect 'two structs' 'one name for several types: mst_part src/base/one.h:1 src/run/two.h:2'

other 'typedef enum mst_part { MST_FIRST, MST_SECOND } mst_part;'
expect 'a struct and an enum' 'one name for several types: mst_part src/base/one.h:1 src/run/two.h:1'

other 'struct mst_part {' '    int first;' '};'
expect 'a struct without typedef' 'one name for several types: mst_part src/base/one.h:1 src/run/two.h:1'

other 'typedef int mst_part;'
expect 'another name of a type' 'one name for several types: mst_part src/base/one.h:1 src/run/two.h:1'

other 'typedef int mst_part[4];'
expect 'an array' 'one name for several types: mst_part src/base/one.h:1 src/run/two.h:1'

other 'typedef int (*mst_part)(const void *context, int number);'
expect 'a pointer to a function' 'one name for several types: mst_part src/base/one.h:1 src/run/two.h:1'

other 'typedef void mst_part(const void *context,' '                      int number);'
expect 'a function' 'one name for several types: mst_part src/base/one.h:1 src/run/two.h:1'

other 'typedef struct mst_other mst_part;'
expect 'another struct' 'one name for several types: mst_part src/base/one.h:1 src/run/two.h:1'

other '#if A' 'typedef int mst_whole;' '#else' 'typedef long mst_whole;' '#endif'
public 'typedef union mst_part {' '    int first;' '} mst_part;'
expect 'one that is private and one that is public' \
    'one name for several types: mst_part include/muster/three.h:1 src/base/one.h:1'

public ''
for number in 1 2 3 4; do printf 'typedef struct part {\n    int a;\n} part;\n' > "$work/src/run/part_$number.c"; done
expect 'a type that four files have, each for itself' '0 names that say too little'

cp "$work/src/run/part_1.c" "$work/src/run/part_5.c"
expect 'a type that five files have, each for itself' "the type part is in many files: src/run/part_1.c:1 \
src/run/part_2.c:1 src/run/part_3.c:1 src/run/part_4.c:1 src/run/part_5.c:1"

[ $failures -eq 0 ]
