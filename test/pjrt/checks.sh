# What the shell tests of this folder share; each reads it at its beginning. A folder of their own, which is removed at the end,
# has compiled programs too. Each check prints `ok NAME` or `FAIL NAME: WHY`. A test ends with: [ $failures -eq 0 ]
# shellcheck shell=sh
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
export XDG_CACHE_HOME="$folder/cache"
failures=0

# check yes|... NAME WHY: anything but yes is a failure
check() {
    if [ "$1" = yes ]; then
        echo "ok $2"
    else
        echo "FAIL $2: $3"
        failures=$((failures + 1))
    fi
}
