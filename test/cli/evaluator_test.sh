#!/bin/sh
# The evaluator of a job: it waits for checkpoints, evaluates each new one as `muster evaluate` does, and ends when training
# has ended, but not where that was interrupted. Usage: evaluator_test.sh PATH_OF_MUSTER
set -u
muster=$(cd "$(dirname "$1")" && pwd)/$(basename "$1")
here=$(cd "$(dirname "$0")/.." && pwd)
seed=1
. "$here/support/checks.sh"
. "$here/support/small_data.sh"
. "$here/support/cluster.sh"
write_data data

# follow NAME FOLDER OPTION...: an evaluator of FOLDER; out-NAME and err-NAME are what it prints
follow() {
    follower=$1 of=$2
    shift 2
    new_output "$follower"
    # $training is a list of words
    # shellcheck disable=SC2086
    TF_CONFIG='{"cluster":{"worker":["localhost:1"]},"task":{"type":"evaluator","index":0}}' \
        "$muster" train $training --checkpoint-dir "$of" "$@" > "out-$follower" 2> "err-$follower" &
    has_started "$follower"
}
waits() { within 10 grep -q "waiting for a checkpoint in '$2'" "err-$1"; }
has_evaluated() { grep -q "^{\"event\":\"evaluated\",\"step\":$2," "out-$1"; }
# "step loss accuracy" of each checkpoint that was evaluated
results() { sed -n 's/.*"evaluated","step":\([0-9]*\),"test_loss":\([^,]*\),"test_accuracy":\([^,]*\),.*/\1 \2 \3/p' "$1"; }
# the same of one checkpoint, by `muster evaluate`
result_of() {
    "$muster" evaluate --load "$1" --data idx:data --json > evaluated 2> /dev/null
    results evaluated
}

# ---- what is wrong ------------------------------------------------------------------------------------

fails folder_must_be_given_with_the_flag 2 "evaluator.*say --checkpoint-dir" train --job_name evaluator --data idx:data
fails second_evaluator_is_refused 2 "one evaluator" train --job_name evaluator --task_index 1 --checkpoint-dir run
export TF_CONFIG='{"cluster":{"worker":["localhost:1"]},"task":{"type":"evaluator","index":0}}'
fails folder_must_be_given_with_TF_CONFIG 2 "evaluator.*say --checkpoint-dir" train --data idx:data
fails strategy_of_the_chief_does_not_matter 2 "evaluator.*say --checkpoint-dir" train --data idx:data --strategy mirrored
fails data_is_looked_at_before_there_is_a_checkpoint 1 "no-data" train --data idx:no-data --checkpoint-dir run
unset TF_CONFIG

# ---- it follows a training ----------------------------------------------------------------------------

follow first run --steps 400 --logdir log
check evaluator_waits_for_the_first_checkpoint waits first run

# $training is a list of words
# shellcheck disable=SC2086
"$muster" train $training --checkpoint-dir run --keep 1000 --save-every 50 --steps 100000000 > interrupted.out 2> err &
has_started trainer
check checkpoint_of_a_training_under_way_is_evaluated within 20 grep -q '"evaluated"' out-first
signal TERM trainer
wait_for trainer
check interrupted_training_leaves_with_its_signal [ "$status" -eq 143 ]
last=$(sed -n 's/^model_checkpoint_path: "model.ckpt-\([0-9]*\)"/\1/p' run/checkpoint)
check last_checkpoint_of_an_interrupted_training_is_evaluated within 20 has_evaluated first "$last"
sleep 0.5
check interrupted_training_has_not_ended runs first

steps=$((last + 30))
"$muster" train $training --checkpoint-dir run --keep 1000 --save-every 20 --steps $steps > out 2> err
wait_for first
check evaluator_ends_when_training_has_ended [ "$status" -eq 0 ]
check last_checkpoint_is_evaluated has_evaluated first $steps
check last_event_is_done sh -c "tail -n 1 out-first | grep -q '^{\"event\":\"done\",\"step\":$steps,'"
check events_are_JSON json_lines out-first
results out-first > all
check each_checkpoint_is_evaluated_once_in_order sh -c "sort -nu -k1,1 all | cmp -s - all"
for step in $(sed -n '1p;$p' all | cut -d ' ' -f 1); do
    check "values_of_step_are_those_of_muster_evaluate" [ "$(grep "^$step " all)" = "$(result_of "run/model.ckpt-$step")" ]
done
if command -v python3 > /dev/null 2>&1; then
    # the records of TensorBoard's files: length, check sum, Event, check sum; fields 2: step, 5: summary of values 1, with
    # 1: tag and 2: number
    cat > events.py << 'END'
import struct, sys
points = []
def fields(data):
    at = 0
    def varint():
        nonlocal at
        value = shift = 0
        while True:
            byte = data[at]; at += 1
            value |= (byte & 127) << shift; shift += 7
            if byte < 128: return value
    while at < len(data):
        key = varint()
        if key & 7 == 0: yield key >> 3, varint(); continue
        size = {1: 8, 5: 4}.get(key & 7) or varint()
        yield key >> 3, data[at:at + size]
        at += size
for name in sys.argv[1:]:
    data, at = open(name, 'rb').read(), 0
    while at < len(data):
        size, = struct.unpack_from('<Q', data, at)
        event = list(fields(data[at + 12:at + 12 + size])); at += size + 16
        step = dict(event).get(2, 0)
        for number, summary in event:
            if number != 5: continue
            for _, value in fields(summary):
                value = dict(fields(value))
                if value[1] == b'evaluation_loss_vs_iterations' and 2 in value:
                    points.append((step, *struct.unpack('<f', value[2])))
wanted = [(int(words[0]), float(words[1])) for words in map(str.split, open('all'))]
assert [p[0] for p in points] == [w[0] for w in wanted], (points, wanted)
assert all(abs(p[1] - w[1]) < 1e-6 for p, w in zip(points, wanted)), (points, wanted)
END
    check log_has_the_loss_of_each_checkpoint python3 events.py log/eval/events*
fi

# ---- it comes when training has ended -----------------------------------------------------------------

follow late run --steps $steps --progress none
wait_for late
check late_evaluator_takes_the_newest_checkpoint_and_ends [ "$status $(results out-late)" = "0 $(tail -n 1 all)" ]
follow other run --steps $((steps + 1))
follow anew run --steps $steps --no-resume
check checkpoints_of_before_are_not_those_of_a_new_training waits anew run
check newest_checkpoint_of_a_training_with_more_steps_is_evaluated within 20 has_evaluated other $steps
sleep 0.5
check evaluator_stays_where_more_steps_are_to_come runs other
began=$(now)
signal TERM other
signal TERM anew
wait_for other
first_status=$status
wait_for anew
check SIGTERM_ends_it [ "$first_status $status" = "143 143" ]
check SIGTERM_ends_it_at_once sh -c "[ $(seconds_since "$began" | cut -d . -f 1) -lt 5 ]"
check it_has_evaluated_nothing [ ! -s out-anew ]

# ---- half-written checkpoints -------------------------------------------------------------------------

mkdir half
follow half half
cp "run/model.ckpt-$steps.data-00000-of-00001" half/
check evaluator_waits_for_a_checkpoint_without_an_index waits half half
cp "run/model.ckpt-$steps.index" half/
printf 'model_checkpoint_path: "model.ckpt-%d"\n' $steps > half/checkpoint
check checkpoint_is_evaluated_when_it_is_whole within 20 has_evaluated half $steps
head -c 1000 "run/model.ckpt-$steps.data-00000-of-00001" > half/model.ckpt-999999.data-00000-of-00001
cp "run/model.ckpt-$steps.index" half/model.ckpt-999999.index
printf 'model_checkpoint_path: "model.ckpt-999999"\nall_model_checkpoint_paths: "model.ckpt-%d"\n' $steps > half/checkpoint
sleep 0.6
check checkpoint_that_is_cut_off_is_not_evaluated [ "$(results out-half)" = "$(tail -n 1 all)" ]
signal TERM half

# ---- a job --------------------------------------------------------------------------------------------

# shellcheck disable=SC2086
run launch --workers 2 --evaluator -- "$muster" train $training --validation-split 0.3 --patience 1 --min-delta 1000 \
    --epochs 1000 --checkpoint-dir job --logdir job.log
check job_of_two_workers_that_stops_early_ends [ "$status" -eq 0 ]
sed -n 's/^evaluator:0 *| //p' out > out-job
check its_evaluator_has_the_last_checkpoint [ "$(results out-job | tail -n 1)" = "$(result_of job)" ]

end_of_checks
