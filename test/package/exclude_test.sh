#!/bin/bash
# The stages of CI leave out just the tests that their lists name, and a name of no test is an error.
. "$(dirname "$0")/../../scripts/ci/stage.sh"
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
failures=0

few=(cli/train cli/train_again cli/ps cli/ps_lost cluster/epochs names)
many=(many/{a,b,c,d,e,f}{1,2,3,4,5,6,7,8})
for name in "${few[@]}" "${many[@]}"; do echo "add_test($name true)"; done > "$folder/CTestTestfile.cmake"

# expect LEFT NAME...: without these names the tests LEFT are left.
expect() {
    exclude "$folder" "${@:2}"
    got=$(cd "$folder" && ctest -N -E "$EXCLUDED" | awk '$2 ~ /^#/ { print $3 }' | paste -sd ' ')
    [ "$got" = "$1" ] && return 0
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

expect "${few[*]} ${many[*]}"
expect "${few[*]}" many/
expect "${few[*]}" "${many[@]}"
expect 'cli/train_again cli/ps cli/ps_lost cluster/epochs names' cli/train many/
expect 'cluster/epochs names' cli/ many/
expect 'cli/train cli/train_again cluster/epochs' 'cli/ps.*' names many/
refused cli/trains
refused train names
refused clusters/ cli/
refused 'cli/launch.*'
[ $failures -eq 0 ]
