#!/bin/sh
# Every option of train, predict and evaluate with every kind of data: one that has no meaning for the kind is an error
# that names both. An option that is in no list here, or a kind of data, fails the test.
# Usage: data_options_test.sh PATH_OF_MUSTER
# lists of options are split on purpose
# shellcheck disable=SC2086
set -u
# shellcheck disable=SC2034
muster=$(cd "$(dirname "$1")" && pwd)/$(basename "$1")
here=$(cd "$(dirname "$0")/.." && pwd)
# shellcheck source=SCRIPTDIR/../support/checks.sh
. "$here/support/checks.sh"
# shellcheck source=SCRIPTDIR/../support/small_data.sh
. "$here/support/small_data.sh"

# ---- the table ------------------------------------------------------------------------------------------

# option | its value | the kinds of data that it is for; csv-text is a table with --text
table="
skip-corrupt|3|images masks tfds tfrecord
label|class|csv csv-text
sample-weight|n|csv csv-text
delimiter|;|csv csv-text
comment|#|csv csv-text
no-header||csv csv-text
decimal|,|csv csv-text
thousands|,|csv csv-text
text|text|csv csv-text
encoding|latin1|csv csv-text texts
drop|n|csv csv-text
categories|n|csv csv-text
missing|mean|csv
dates|n|csv csv-text
raw-columns||csv
embed-above|2|csv
tokenizer|letters|texts lines tokens csv-text
max-tokens|300|texts word-ids lines tokens csv-text
sequence-length|8|texts word-ids lines tokens csv-text
pad|front|texts word-ids csv-text
image-size|16|images masks tfds tfrecord
pixels|raw|images masks tfds tfrecord idx npz fashion-mnist
raw-pixels||images masks tfds tfrecord idx npz fashion-mnist
flip||images masks tfds tfrecord idx npz fashion-mnist
crop-padding|1|images masks tfds tfrecord idx npz fashion-mnist
rotation|0.1|images masks tfds tfrecord idx npz fashion-mnist
zoom|0.1|images masks tfds tfrecord idx npz fashion-mnist
translation|0.1|images masks tfds tfrecord idx npz fashion-mnist
fill-mode|wrap|images masks tfds tfrecord idx npz fashion-mnist
interpolation|nearest|images masks tfds tfrecord idx npz fashion-mnist
brightness|0.1|images masks tfds tfrecord idx npz fashion-mnist
contrast|0.1|images masks tfds tfrecord idx npz fashion-mnist
mixup|0.1|images tfds tfrecord idx npz fashion-mnist
cutmix|0.1|images tfds tfrecord idx npz fashion-mnist
"
# what any data has: which data, its parts and its order
any_data="data data-dir validation-data test-data validation-split validation-rows folds shuffle"
# the model and its labels; where these do not fit, the error is of the model or the loss, and other tests have it
of_the_model="model hidden-units heads key-value-heads activation classes loss loss-weights metrics positive class-weight
ignore-class l2 l1 dropout class-names batch-norm-momentum freeze name-map load use-ema confusion out predict"
of_the_training="epochs steps batch-size batch-per-replica precision seed evaluate follow strategy devices visible-devices
shards pin memory-limit compile-cache recompute allow-soft-placement log-device-placement dump-plan step-timeout
check-numerics check-replicas progress log-every summary history logdir histograms-every profile json optimizer
learning-rate momentum nesterov rho centered beta-1 beta-2 epsilon epsilon-kind amsgrad initial-accumulator
learning-rate-power l1-strength l2-strength l2-shrinkage beta weight-decay decay-kernels-only clip-value clip-norm
clip-global-norm ema ema-num-updates sparse gradient-accumulation-steps schedule boundaries values reduce-on-plateau
plateau-factor plateau-min-delta plateau-cooldown min-learning-rate decay-rate decay-steps staircase end-learning-rate
power cycle alpha warmup-steps warmup-from checkpoint-dir save-every keep keep-every-hours resume best patience min-delta
restore-best-weights monitor save save-optimizer config print-config"
of_the_task="worker-hosts ps-hosts job-name task-index sharded-state issync replicas-to-aggregate max-staleness ps-placement
ps-part-bytes update-log replay-updates bind cluster-key insecure transport timeout recovery-timeout elastic"

# ---- every option and every kind is here ----------------------------------------------------------------

for command in train predict evaluate; do
    run help $command
    sed -n 's/^  --\([a-z0-9-]*\).*/\1/p' out
done | sort -u > options
{
    echo "$table" | sed -n 's/|.*//p'
    echo $any_data $of_the_model $of_the_training $of_the_task | tr ' ' '\n'
} | sort -u > listed
unlisted=$(comm -23 options listed | tr '\n' ' ')
check every_option_is_in_a_list test -z "$unlisted"
[ -z "$unlisted" ] || echo "    in no list of this test: $unlisted"
unknown=$(comm -13 options listed | tr '\n' ' ')
check the_lists_have_options_only test -z "$unknown"
[ -z "$unknown" ] || echo "    no options: $unknown"

# kind | a spec of it; what it names need not be there, as options are checked first
kinds="
csv|csv:table.csv
csv-text|csv:table.csv --text text
fashion-mnist|fashion-mnist
idx|idx:data
images|images:pictures
lines|lines:book.txt --model gpt:1x16
masks|masks:shapes --model unet
npz|npz:data.npz
texts|texts:topics
tfds|tfds:made
tfrecord|tfrecord:records
tokens|tokens:book.u16 --model gpt:1x16
word-ids|word-ids:reviews.npz
"
run train --data no-such-kind
sed -n 's/.*: use //p' err | sed 's/,\([A-Z]\)/ \1/; s/, /\n/g; s/ or /\n/' | sed 's/:.*//' | sort -u > forms
echo "$kinds" | sed -n 's/|.*//p' | grep -v csv-text | sort -u > known
check every_kind_is_here cmp -s forms known

# ---- each with each -------------------------------------------------------------------------------------

has() { case " $2 " in *" $1 "*) true ;; *) false ;; esac }
# refused OPTION VALUE KIND COMMAND...: one error that names the option and the data
refused() {
    named=--$1 given=$2 data=$3
    shift 3
    if [ -n "$given" ]; then run "$@" "$named" "$given"; else run "$@" "$named"; fi
    [ "$status" -eq 1 ] && [ "$(grep -c . err)" -eq 1 ] && grep -q -e "^error: .*'${data}[:']*.* has .*$named is for " err
}
echo "$table" | sed '/^$/d' > rows
echo "$kinds" | sed '/^$/d' > kinds
MUSTER_FASHION_MNIST=nowhere
export MUSTER_FASHION_MNIST
wrong=
while IFS='|' read -r kind spec; do
    while IFS='|' read -r option value for; do
        if [ "$kind" = csv-text ] && [ $option = text ]; then continue; fi
        if has $kind "$for"; then
            # it may still fail as the data is not there, but not for the option
            if refused $option "$value" ${kind%-text} train --data $spec; then wrong="$wrong, $option is for $kind"; fi
        elif ! refused $option "$value" ${kind%-text} train --data $spec; then
            wrong="$wrong, $option with $kind: $(tail -n 1 err | cut -c 1-120)"
        fi
    done < rows
done < kinds
if [ -z "$wrong" ]; then ok each_option_of_train_is_for_its_kinds; else failed each_option_of_train_is_for_its_kinds "$wrong"; fi

# ---- saved models ---------------------------------------------------------------------------------------

write_data data 40 20
run convert idx:data images:pictures
run convert idx:data npz:data.npz
run train --data images:pictures --hidden-units 4 --steps 1 --devices cpu:1 --save m.keras
for command in predict evaluate; do
    run help $command
    sed -n 's/^  --\([a-z0-9-]*\).*/\1/p' out > own
    for spec in images:pictures idx:data npz:data.npz; do
        wrong=
        while IFS='|' read -r option value for; do
            if ! grep -qx -e "$option" own || has ${spec%%:*} "$for"; then continue; fi
            refused $option "$value" ${spec%%:*} $command --load m.keras --data $spec || wrong="$wrong $option"
        done < rows
        if [ -z "$wrong" ]; then ok "${command}_refuses_what_is_not_for_$spec"; else failed "${command}_refuses_what_is_not_for_$spec" "$wrong"; fi
    done
done
picture=$(find pictures/test -name '*.png' | sort | head -n 1)
fails pictures_have_no_columns 1 "'$picture' has no cells in columns: --delimiter is for csv:FILE" \
    predict --load m.keras --delimiter ';' "$picture"
run predict --load m.keras --pixels raw "$picture"
check pictures_have_pixels test "$status" -eq 0

# ---- a kind whose data may be something else ------------------------------------------------------------

run train --data npz:data.npz --hidden-units 4 --steps 1 --devices cpu:1 --no-raw-columns --raw-pixels
check a_flag_that_is_off_is_no_option test "$status" -eq 0
awk 'BEGIN { print "n,m,class"; for (i = 0; i < 40; i++) printf "%.1f,%d,%d\n", i / 7, i % 5, i % 2 }' > table.csv
run convert csv:table.csv npz:numbers.npz
check there_are_numbers_that_are_no_pixels test "$status" -eq 0
for option in '--pixels 0..1' '--pixels raw' --raw-pixels; do
    fails "numbers_are_no_pixels_of_${option#--}" 1 "'npz:numbers.npz' has inputs of f32: ${option%% *} is for u8 pixels" \
        train --data npz:numbers.npz $option
done
for option in '--fill-mode wrap' '--interpolation nearest'; do
    fails "${option%% *}_needs_a_picture_that_moves" 2 "${option%% *} is for --rotation, --zoom and --translation" \
        train --data npz:data.npz $option
done
end_of_checks
