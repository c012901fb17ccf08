#!/bin/sh
# What `muster train` shows and writes beside the weights, and what it can be trained for.
# Usage: train_test.sh PATH_OF_MUSTER
# lists of options are split on purpose
# shellcheck disable=SC2086
set -u
muster=$(cd "$(dirname "$1")" && pwd)/$(basename "$1")
here=$(cd "$(dirname "$0")/.." && pwd)
. "$here/support/checks.sh"
. "$here/support/small_data.sh"
write_data data
small="--data idx:data --hidden-units 16 --batch-size 40 --devices cpu:1"

# ---- summary of the model ----------------------------------------------------------------------------

works summary_has_the_parameters_of_keras_table "layer1 (Dense).*1,040" train $small --steps 1 --summary
check summary_counts_all_parameters grep -q "Total params: 1,210" out
check summary_stands_before_training awk '/Total params/ { before = 1 } /^done:/ { exit !before }' out
run train $small --steps 1 --summary --json
check summary_leaves_json_alone json_lines out
check summary_beside_json_is_on_standard_error grep -q "Total params: 1,210" err
works no_summary_where_none_is_asked_for "^done:" train $small --steps 1
check no_summary_was_printed sh -c '! grep -q "Total params" out'

end_of_checks
