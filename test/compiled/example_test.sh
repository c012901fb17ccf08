#!/bin/sh
# An example on devices that compile. It must end with status 0, print what it should, and have had programs.
#   example_test.sh [--images ROWS] [--prints PATTERN] [--no-programs] COMMAND...
#   --images       fashion-mnist is ROWS images for training and 20 others, of 28 x 28, in place of 70,000
#   --prints       an extended regular expression of a line
#   --no-programs  it must have none
# COMMAND runs in a folder of its own. The texts of the programs are appended to $MUSTER_LAGOON_TEXTS, if it is set.
set -u
. "$(dirname "$0")/../support/small_data.sh"
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
trap 'exit 1' INT TERM

failed() {
    echo "FAIL: $*"
    exit 1
}

pattern='' programs=1
while :; do
    case $1 in
        --images)
            write_data "$folder/images" "$2" 20 28
            export MUSTER_FASHION_MNIST="$folder/images"
            shift
            ;;
        --prints)
            pattern=$2
            shift
            ;;
        --no-programs) programs=0 ;;
        *) break ;;
    esac
    shift
done

texts=${MUSTER_LAGOON_TEXTS:-}
mkdir "$folder/run" && cd "$folder/run" || exit 1
MUSTER_LAGOON_TEXTS=$folder/texts "$@" > "$folder/printed" 2>&1 || failed "status $?: $(cat "$folder/printed")"
cat "$folder/printed"
if [ -n "$pattern" ]; then grep -q -E -e "$pattern" "$folder/printed" || failed "it has not printed: $pattern"; fi
count=$(grep -c '^// ----' "$folder/texts" 2> /dev/null) || count=0
echo "$count programs"
[ $((count > 0)) -eq $programs ] || failed "it must have $([ $programs -eq 1 ] || echo no\ )programs"
[ "$count" -eq 0 ] || [ -z "$texts" ] || cat "$folder/texts" >> "$texts"
