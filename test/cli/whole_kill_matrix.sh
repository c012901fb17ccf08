#!/bin/sh
# The whole kill matrix, of workers and of parameter servers, by all transports: hours. Prints their tables.
# Usage: whole_kill_matrix.sh PATH_OF_MUSTER [WHAT...], with what kill_matrix.sh and ps_kill_matrix.sh both take.
set -u
here=$(dirname "$0")
failed=0
"$here/kill_matrix.sh" "$@" || failed=1
MODES=${MODES:-synchronous asynchronous backup} "$here/ps_kill_matrix.sh" "$@" || failed=1
exit $failed
