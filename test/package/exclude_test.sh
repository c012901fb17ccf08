#!/bin/bash
# The stages of CI leave out just the tests that their lists name, and a name of no test is an error.
. "$(dirname "$0")/../../scripts/ci/stage.sh"
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
failures=0

known=(cli/train cli/train_again cli/ps cli/ps_lost cluster/epochs names)
ctest() {
    echo "Test project $folder"
    for i in "${!known[@]}"; do echo "  Test #$i: ${known[i]}"; done
    echo "  Test  #99: examples/pictures (Disabled)"
}

# expect LEFT NAME...: without these names the tests LEFT are left.
expect() {
    exclude "$folder" "${@:2}"
    got=$(printf '%s\n' "${known[@]}" | grep -vE "$EXCLUDED" | paste -sd ' ')
    [ "$got" = "$1" ] && return
    echo "FAIL without ${*:2} there is: $got"
    failures=$((failures + 1))
}

# refused NAME...: the first of these names is no test.
refused() {
    if said=$( (exclude "$folder" "${@:2}" "$1") 2>&1); then said="nothing"; fi
    case $said in *"leaves out the test $1, which $folder does not have"*) return 0 ;; esac
    echo "FAIL of $1 is said: $said"
    failures=$((failures + 1))
}

expect "${known[*]}"
expect 'cli/train_again cli/ps cli/ps_lost cluster/epochs names' cli/train
expect 'cluster/epochs names' cli/
expect 'cli/train cli/train_again cluster/epochs' 'cli/ps.*' names examples/pictures
refused cli/trains
refused train names
refused clusters/ cli/
refused 'cli/launch.*'
[ $failures -eq 0 ]
