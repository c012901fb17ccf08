# What the tests of the command share: run it, and check its exit status, messages and output. To be read by a script
# that has set $muster, the path of the command, and $here, the folder test; it goes to a folder of its own, which is
# removed at the end. Each check prints `ok NAME` or `FAIL NAME`; end_of_checks fails where one of them has.
# shellcheck shell=sh
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder" || exit 1
LC_ALL=C
XDG_STATE_HOME=$folder # not that of who runs the tests: transport/user_token.h
export LC_ALL XDG_STATE_HOME
failures=0

ok() { printf 'ok %s\n' "$1"; }

failed() {
    failures=$((failures + 1))
    printf 'FAIL %s\n' "$1"
    [ $# -lt 2 ] || printf '    %s\n' "$2"
    for file in out err; do
        [ ! -s $file ] || { printf '    %s:\n' "$file" && head -n 5 $file | cut -c 1-300 | sed 's/^/    /'; }
    done
}

# check NAME COMMAND...: the command must succeed
check() {
    name=$1
    shift
    if "$@"; then
        ok "$name"
    else
        failed "$name" "not so: $*"
        show_what_grep_read "$@"
    fi
}

# Of a command with grep: the last lines of the files that are among its words, and of those in a text for `sh -c`.
show_what_grep_read() {
    case " $* " in *[!a-z]grep[!a-z]*) ;; *) return 0 ;; esac
    for file in $(printf '%s\n' "$*" | tr -cs 'A-Za-z0-9_./-' '\n' | sort -u); do
        [ -f "$file" ] || continue
        printf '    the end of %s, of %d bytes:\n' "$file" "$(wc -c < "$file")"
        tail -n 8 "$file" | tr -cd '[:print:]\n' | cut -c 1-300 | sed 's/^/    /'
    done
    shift $(($# - 1))
    case $1 in *[!A-Za-z0-9_./-]*) ;; *) [ -e "$1" ] || printf '    there is no file %s\n' "$1" ;; esac
}

# run ARGUMENT...: leaves `out`, `err` and $status
run() {
    "$muster" "$@" > out 2> err
    status=$?
}

# fails NAME STATUS PATTERN ARGUMENT...: nothing on standard output, and one error line with the pattern
fails() {
    name=$1 want=$2 pattern=$3
    shift 3
    run "$@"
    if [ "$status" -ne "$want" ]; then
        failed "$name" "exit status $status, not $want"
    elif [ "$(grep -c . err)" -ne 1 ] || ! grep -q '^error: ' err; then
        failed "$name" "not exactly one error line"
    elif ! grep -q -e "$pattern" err; then
        failed "$name" "the error does not say: $pattern"
    elif [ -s out ]; then
        failed "$name" "standard output is not empty"
    else
        ok "$name"
    fi
}

# works NAME PATTERN ARGUMENT...: exit status 0, no error, and the pattern on standard output
works() {
    name=$1 pattern=$2
    shift 2
    run "$@"
    if [ "$status" -ne 0 ]; then
        failed "$name" "exit status $status"
    elif [ -s err ]; then
        failed "$name" "standard error is not empty"
    elif ! grep -q -e "$pattern" out; then
        failed "$name" "the output does not have: $pattern"
    else
        ok "$name"
    fi
}

json_lines() {
    if command -v python3 > /dev/null 2>&1; then
        python3 -c 'import json, sys
for line in open(sys.argv[1]): assert isinstance(json.loads(line, parse_constant=lambda c: 1 / 0), dict)' "$1"
    elif command -v jq > /dev/null 2>&1; then
        jq -e . "$1" > /dev/null
    else
        ! grep -v '^{.*}$' "$1"
    fi
}

# value KEY: of the last line of `out`, which is JSON
value() { tail -n 1 out | sed -n "s/.*\"$1\":\"\{0,1\}\([^,\"}]*\).*/\1/p"; }

end_of_checks() {
    printf '%d failed\n' $failures
    [ $failures -eq 0 ]
}
