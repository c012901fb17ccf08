#!/bin/sh
# Which options must be the same on all workers, and which may differ: every option of muster train is in one of the lists
# below. Each that decides the weights is given to one of two workers, which must both end with one error that says what
# differs; those that only follow the weights are given to one of two workers, which must end alike.
# Usage: same_options_test.sh PATH_OF_MUSTER
# lists of options are split on purpose
# shellcheck disable=SC2086
set -u
muster=$(cd "$(dirname "$1")" && pwd)/$(basename "$1")
here=$(cd "$(dirname "$0")/.." && pwd)
seed=${MUSTER_TEST_SEED:-$(date +%s)}
. "$here/support/checks.sh"
. "$here/support/small_data.sh"
. "$here/support/cluster.sh"
echo "MUSTER_TEST_SEED=$seed"
write_data data
run convert idx:data images:pictures
awk 'BEGIN { print "n,m,code,class"; for (i = 0; i < 80; i++)
    printf "%.2f,%.2f,%d,%s\n", i / 60, (i * 7) % 11, i % 5, i % 3 ? "yes" : "no" }' > table.csv
sed 's/^0.10,/,/' table.csv > gaps.csv
awk 'BEGIN { for (i = 0; i < 100; i++) print "the cat sees the dog" }' > book.txt
sed '1s/.*/n,m,k,value/; s/yes$/1.5/; s/no$/2.5/' table.csv > numbers.csv
awk 'BEGIN { print "text,class"; for (i = 0; i < 60; i++)
    printf "the %s of word%d and word%d,%s\n", i % 2 ? "atom" : "ball", i % 7, i % 9, i % 2 ? "science" : "sport" }' > texts.csv
awk 'BEGIN { print "n;m;class"; for (i = 0; i < 80; i++)
    printf "%d,25;1.%d0;%s\n", i, 1 + i % 8, i % 3 ? "yes" : "no" }' > comma.csv
awk 'BEGIN { print "n,day,class"; for (i = 0; i < 80; i++)
    printf "%d,2024-01-%02d,%s\n", i, 1 + i % 28, i % 3 ? "yes" : "no" }' > dates.csv
for folder in letters pairs; do
    mkdir $folder
    awk 'BEGIN { printf "{\"\\u0120\": 0, \"th\": 1"; for (i = 0; i < 36; i++)
        printf ", \"%s\": %d", substr("abcdefghijklmnopqrstuvwxyz0123456789", i + 1, 1), i + 2; print "}" }' > $folder/vocab.json
    echo '#version: 0.2' > $folder/merges.txt
done
echo 't h' >> pairs/merges.txt
layer() { printf '{"class_name": "%s", "config": {"name": "%s"%s}}' "$1" "$2" "$3"; }
{
    printf '{"class_name": "Sequential", "config": {"name": "net", "layers": ['
    layer InputLayer x ', "batch_shape": [null, 8, 8]' && printf ', '
    layer Flatten flat '' && printf ', ' && layer Dense first ', "units": 6' && printf ', '
    layer BatchNormalization norm '' && printf ', ' && layer Dense last ', "units": 8, "activation": "softmax"'
    printf ']}}'
} > net.json
common="--shards 4 --seed 3 --json --devices cpu:1/1"
idx="--data idx:data --hidden-units 8"
csv="--data csv:table.csv --hidden-units 8"
text="--data csv:texts.csv --text text"
gpt="--data lines:book.txt --model gpt:1x16 --sequence-length 8"

# ---- the lists ----------------------------------------------------------------------------------------

# option | what both workers have | what the second one has besides
decides="
model|--data idx:data|--model net.json
hidden-units|--data idx:data|--hidden-units 9
heads|$gpt|--heads 2
key-value-heads|$gpt --heads 4|--key-value-heads 2
activation|$idx|--activation tanh
classes|$idx|--classes 9
loss|--data csv:numbers.csv --hidden-units 8 --loss mse|--loss huber
metrics|$idx|--metrics top_k_accuracy
ignore-class|$idx|--ignore-class 3
class-weight|$idx --class-weight 1,1,1,1,1,1,1,2|--class-weight 1,1,1,1,1,1,1,3
class-weight|$idx|--class-weight balanced
decimal|--data csv:comma.csv --delimiter ; --hidden-units 8|--decimal , --drop m
thousands|--data csv:comma.csv --delimiter ; --hidden-units 8|--thousands . --drop m
dates|--data csv:dates.csv --hidden-units 8|--dates day
positive|$csv --metrics precision|--positive no
l2|$idx|--l2 0.1
l1|$idx|--l1 0.1
dropout|$idx|--dropout 0.1
data|--hidden-units 8 --data idx:data|--data idx:other
data-dir|--hidden-units 8|--data-dir other
label|$csv|--label code
sample-weight|$csv|--sample-weight code
drop|$csv|--drop code
categories|$csv|--categories code
missing|--data csv:gaps.csv --missing mean --hidden-units 8|--data csv:table.csv
text|$text|--text class --label text
max-tokens|$text|--max-tokens 9
sequence-length|$text|--sequence-length 20
pad|$text|--pad front
tokenizer|$text --tokenizer letters|--tokenizer pairs
raw-columns|$csv|--raw-columns
embed-above|$csv|--embed-above 2 --categories code
embed-above|$csv --categories code|--embed-above 2
image-size|--data images:pictures --hidden-units 8|--image-size 4
validation-data|$idx --patience 1|--validation-data idx:data
validation-split|$idx|--validation-split 0.2
validation-rows|$idx --validation-split 0.2|--validation-rows last
raw-pixels|$idx|--raw-pixels
pixels|$idx|--pixels -1..1
flip|$idx|--flip
crop-padding|$idx|--crop-padding 2
brightness|$idx|--brightness 0.5
rotation|$idx|--rotation 0.1
zoom|$idx|--zoom 0.1
translation|$idx|--translation 0.1
fill-mode|$idx --rotation 0.1|--fill-mode wrap
interpolation|$idx --rotation 0.1|--interpolation nearest
contrast|$idx|--contrast 0.5
mixup|$idx|--mixup 0.2
cutmix|$idx|--cutmix 1
shuffle|$idx|--no-shuffle
epochs|$idx|--epochs 2
steps|$idx --steps 8|--steps 7
batch-size|$idx|--batch-size 20
batch-per-replica|$idx --batch-per-replica 10|--batch-per-replica 20
seed|$idx|--seed 4
use-ema|$idx --ema 0.9|--use-ema
shards|$idx|--shards 8
check-replicas|$idx|--check-replicas 2
elastic|$idx|--elastic 1
sharded-state|$idx|--sharded-state
optimizer|$idx|--optimizer sgd
learning-rate|$idx|--learning-rate 0.1
momentum|$idx --optimizer sgd|--momentum 0.9
nesterov|$idx --optimizer sgd --momentum 0.9|--nesterov
rho|$idx --optimizer rmsprop|--rho 0.8
centered|$idx --optimizer rmsprop|--centered
beta-1|$idx --optimizer adam|--beta-1 0.8
beta-2|$idx --optimizer adam|--beta-2 0.99
epsilon|$idx --optimizer adam|--epsilon 0.01
epsilon-kind|$idx --optimizer adam|--epsilon-kind corrected
amsgrad|$idx --optimizer adam|--amsgrad
initial-accumulator|$idx --optimizer adagrad|--initial-accumulator 0.2
learning-rate-power|$idx --optimizer ftrl|--learning-rate-power -0.4
l1-strength|$idx --optimizer ftrl|--l1-strength 0.1
l2-strength|$idx --optimizer ftrl|--l2-strength 0.1
l2-shrinkage|$idx --optimizer ftrl|--l2-shrinkage 0.1
beta|$idx --optimizer ftrl|--beta 0.1
weight-decay|$idx --optimizer adamw|--weight-decay 0.1
decay-kernels-only|$idx --optimizer adamw|--decay-kernels-only
clip-value|$idx|--clip-value 0.1
clip-norm|$idx|--clip-norm 0.1
clip-global-norm|$idx|--clip-global-norm 0.1
ema|$idx|--ema 0.9
ema-num-updates|$idx --ema 0.9|--ema-num-updates
sparse|$text|--sparse tensorflow
gradient-accumulation-steps|$idx|--gradient-accumulation-steps 2
schedule|$idx --learning-rate 0.1|--schedule cosine
boundaries|$idx --schedule piecewise --values 0.1,0.2 --boundaries 5|--boundaries 6
values|$idx --schedule piecewise --values 0.1,0.2 --boundaries 5|--values 0.1,0.3
decay-steps|$idx --schedule cosine|--decay-steps 5
decay-rate|$idx --schedule exponential --decay-steps 5 --decay-rate 0.9|--decay-rate 0.8
staircase|$idx --schedule exponential --decay-steps 5 --decay-rate 0.9|--staircase
end-learning-rate|$idx --schedule polynomial --decay-steps 5|--end-learning-rate 0.1
power|$idx --schedule polynomial --decay-steps 5|--power 2
cycle|$idx --schedule polynomial --decay-steps 5|--cycle
alpha|$idx --schedule cosine|--alpha 0.1
warmup-steps|$idx|--warmup-steps 3
warmup-from|$idx --warmup-steps 3|--warmup-from 0.001
reduce-on-plateau|$idx --optimizer sgd|--reduce-on-plateau 2
plateau-factor|$idx --optimizer sgd --reduce-on-plateau 2|--plateau-factor 0.5
plateau-min-delta|$idx --optimizer sgd --reduce-on-plateau 2|--plateau-min-delta 1
plateau-cooldown|$idx --optimizer sgd --reduce-on-plateau 2|--plateau-cooldown 1
min-learning-rate|$idx --optimizer sgd --reduce-on-plateau 2|--min-learning-rate 0.01
patience|$idx|--patience 1
min-delta|$idx --patience 1|--min-delta 1
restore-best-weights|$idx|--restore-best-weights
monitor|$idx --patience 1|--monitor accuracy
batch-norm-momentum|--data idx:data --model net.json|--batch-norm-momentum 0.5
freeze|--data idx:data --model net.json|--freeze first
"
# with --issync 1 where the first list of options says nothing else
decides_with_servers="
l2|$idx|--l2 0.1
raw-pixels|$idx|--raw-pixels
use-ema|$idx --ema 0.9|--use-ema
patience|$idx|--patience 1
flip|$idx --issync 0|--flip
issync|$idx --issync 0|--issync 1
replicas-to-aggregate|$idx|--replicas-to-aggregate 1
max-staleness|$idx --issync 0|--max-staleness 3
ps-placement|$idx|--ps-placement greedy
ps-part-bytes|$idx|--ps-part-bytes 100
"
# those that need more than these workers have: instructions for bf16; a network with several outputs
decides_elsewhere="precision loss-weights"
# the state of the chief is that of all; what is written and shown follows
follows="
load|--load start.npz
name-map|--load start.npz --name-map names
class-names|--class-names classes
evaluate|--evaluate
test-data|--test-data idx:data
confusion|--confusion
predict|--predict predicted.csv
devices|--devices cpu:2/1
visible-devices|--visible-devices 0
pin|--pin
memory-limit|--memory-limit 1GB
compile-cache|--compile-cache off
recompute|--recompute
allow-soft-placement|--allow-soft-placement
log-device-placement|--log-device-placement
dump-plan|--dump-plan memory
check-numerics|--check-numerics
step-timeout|--step-timeout 300
progress|--progress lines
log-every|--log-every 3
summary|--summary
history|--history history.csv
logdir|--logdir log
histograms-every|--logdir log --histograms-every 1
profile|--logdir log --profile 2:3
checkpoint-dir|--checkpoint-dir run
save-every|--checkpoint-dir run --save-every 2
keep|--checkpoint-dir run --keep 2
keep-every-hours|--checkpoint-dir run --keep-every-hours 1
resume|--checkpoint-dir run --no-resume
best|--checkpoint-dir run --best --validation-split 0
save|--save model.npz
save-optimizer|--save model.npz --save-optimizer
timeout|--timeout 9
recovery-timeout|--recovery-timeout 60
transport|--transport zmq
config|--config file.config
"
# how the file is written or standard output read, who the task is and how it is reached, or what is refused with others
of_the_task="folds delimiter comment no-header encoding skip-corrupt strategy worker-hosts ps-hosts job-name task-index bind cluster-key insecure
json update-log replay-updates print-config"

# ---- every option is in one of them ---------------------------------------------------------------------

first_of() { echo "$1" | sed -n 's/|.*//p'; }
run help train
sed -n 's/^  --\([a-z0-9-]*\).*/\1/p' out | sort -u > options
{
    first_of "$decides" && first_of "$decides_with_servers" && first_of "$follows"
    echo $decides_elsewhere $of_the_task | tr ' ' '\n'
} | sort -u > listed
unlisted=$(comm -23 options listed | tr '\n' ' ')
check "every_option_decides_or_follows" test -z "$unlisted"
[ -z "$unlisted" ] || echo "    in no list of this test: $unlisted"
unknown=$(comm -13 options listed | tr '\n' ' ')
check "the_lists_have_options_only" test -z "$unknown"
[ -z "$unknown" ] || echo "    no options: $unknown"

# Every type of dataset says what decides its rows, or that nothing does. Of a map that is the program's function, of parsed
# examples their shapes.
silent=$(grep -l 'mst_dataset_type [a-z_]* = {' "$here"/../src/data/transforms/*.c "$here"/../src/data/pictures/*.c |
    xargs grep -L '\.settings = \|\.keeps_rows = \|\.takes_some = \|\.parts = ' | sed 's,.*/,,' |
    grep -v -x -e map.c -e parse_example.c)
check every_transform_says_what_decides_its_rows test -z "$silent"
[ -z "$silent" ] || echo "    without .settings: $silent"

# ---- each is tried --------------------------------------------------------------------------------------

mkdir other
cp data/* other
printf '\377' | dd of=other/train-images-idx3-ubyte bs=1 seek=100 conv=notrunc 2> dd.err
training=$common
# both_say NAME TASK...: status 1, and the only error line says what differs
both_say() {
    name=$1 wrong=
    shift
    for task in "$@"; do
        wait_for "$task"
        [ "$status" -eq 1 ] && [ "$(grep -c '^error' "err-$task")" -eq 1 ] &&
            grep -q '^error: .* differs\{0,1\} between .*worker:. at .* and .*worker:. at \|^error: .*--elastic' "err-$task" && continue
        wrong="$task: status $status, $(tail -n 1 "err-$task")"
    done
    if [ -n "$wrong" ]; then failed "$name" "$wrong"; else ok "$name"; fi
}
# $both, with the batch and the length of a training where it does not say them
complete() {
    case $both in *--batch-*) ;; *) both="$both --batch-size 40" ;; esac
    case $both in *--steps*) ;; *) both="$both --epochs 1" ;; esac
}
echo "$decides" > list
while IFS='|' read -r option both second; do
    [ -n "$option" ] || continue
    complete
    find_ports 2
    make_hosts
    start 0 $both
    start 1 $both $second
    both_say "other_${option}_is_an_error_on_both" 0 1
done < list

echo "$decides_with_servers" > list
while IFS='|' read -r option both second; do
    [ -n "$option" ] || continue
    complete
    case $both in *issync*) ;; *) both="$both --issync 1" ;; esac
    make_hosts_with_servers 1 2
    start_task ps_0
    start_task worker_0 $both
    start_task worker_1 $both $second
    both_say "other_${option}_is_an_error_with_servers" worker_0 worker_1
    wait_for ps_0
    check "the_server_ends_too" test "$status" -eq 1
done < list

printf 'layer1/weights = layer1/weights\n' > names
seq 8 > classes
echo 'log-every = 7' > file.config
run train $common $idx --batch-size 40 --steps 1 --save start.npz
echo "$follows" > list
training="$common $idx --batch-size 40 --epochs 1"
alone
while IFS='|' read -r option second; do
    [ -n "$option" ] || continue
    find_ports 2
    make_hosts
    start 0
    start 1 $second
    ended_alike "other_${option}_changes_nothing" "$alone" 0 1
done < list
end_of_checks
