#!/bin/sh
# Pictures that cannot be decoded: an error that names the file and the option, and with --skip-corrupt rows that are left
# out, counted and named, with the weights of a folder without them, on any number of devices and workers.
# Usage: damaged_pictures_test.sh PATH_OF_MUSTER
# lists of options are split on purpose
# shellcheck disable=SC2086
set -u
# shellcheck disable=SC2034
muster=$(cd "$(dirname "$1")" && pwd)/$(basename "$1")
here=$(cd "$(dirname "$0")/.." && pwd)
seed=${MUSTER_TEST_SEED:-$(date +%s)}
# shellcheck source=SCRIPTDIR/../support/checks.sh
. "$here/support/checks.sh"
# shellcheck source=SCRIPTDIR/../support/small_data.sh
. "$here/support/small_data.sh"
# shellcheck source=SCRIPTDIR/../support/cluster.sh
. "$here/support/cluster.sh"
"$muster" version | grep -q 'spng' || { echo 'no libspng: left out' && exit 0; }
echo "MUSTER_TEST_SEED=$seed"
write_data data 88 24
run convert idx:data images:good
cp -R good bad

# three of the train part are damaged: cut off, another file, and the first of all; and one of the test part
files() { find "$1" -name '*.png' | LC_ALL=C sort; }
first=$(files bad/train | head -n 1)
second=$(files bad/train | sed -n 20p)
third=$(files bad/train | sed -n 50p)
tested=$(files bad/test | sed -n 3p)
for picture in "$first" "$tested"; do
    dd if="$picture" of=cut bs=1 count=70 2> dd.err && cp cut "$picture"
done
echo 'no picture' > "$second"
dd if="$third" of=cut bs=1 count=60 2> dd.err && cp cut "$third"
for picture in "$first" "$second" "$third" "$tested"; do rm "good/${picture#bad/}"; done

small="--hidden-units 8 --batch-size 16 --epochs 2 --seed 3 --shards 8 --image-size 8"
fails it_is_an_error_that_names_the_option 1 "'$first': .*; --skip-corrupt N leaves out up to N such pictures" train --data images:bad $small
run train --data images:good $small --devices cpu:1 --evaluate --json --save m.keras
good=$(value weights_sha256) good_loss=$(value test_loss)
check there_is_a_training_without_them test -n "$good"
for devices in cpu:1 cpu:2 cpu:8/1; do
    run train --data images:bad $small --devices $devices --evaluate --json --skip-corrupt 3
    check "they_are_left_out_on_$devices" [ "$(value weights_sha256)" = "$good" ]
    check "  in_the_test_part_too_on_$devices" [ "$(value test_loss)" = "$good_loss" ]
    check "  they_are_counted" grep -q '"skipped_corrupt":3,"first_corrupt":"'"$first"'"' out
done
run train --data images:bad $small --devices cpu:1 --evaluate --skip-corrupt 9
check one_line_tells_the_first grep -q "^3 damaged pictures left out, the first is '$first'$" out
check another_tells_that_of_the_test_part grep -q "^1 damaged picture of the test part left out, the first is '$tested'$" out
fails one_more_is_an_error 1 "'$third': .*; --skip-corrupt 2 leaves out no more" train --data images:bad $small --skip-corrupt 2

# workers look at all pictures, each by itself
training="--data images:bad $small --devices cpu:1/1 --skip-corrupt 3 --json"
find_ports 2
make_hosts
start 0
start 1
ended_alike two_workers_leave_out_the_same "$good" 0 1

# saved models
run evaluate --load m.keras --data images:bad
check evaluate_names_the_option_too grep -q "^error: '$tested': .*; --skip-corrupt N leaves out" err
run evaluate --load m.keras --data images:bad --skip-corrupt 1
check evaluate_leaves_them_out grep -q "^1 damaged picture left out, the first is '$tested'$" out
run evaluate --load m.keras --data images:bad --skip-corrupt 1 --json
check with_the_loss_of_the_others [ "$(value test_loss)" = "$good_loss" ]
check and_their_number_in_json grep -q '"skipped_corrupt":1,"first_corrupt":"'"$tested"'"' out
folder_of_two=$(dirname "$second")
run predict --load m.keras --skip-corrupt 5 "$folder_of_two" --json
check predict_has_their_number_too grep -q '"skipped_corrupt":[1-9]' out
run predict --load m.keras --skip-corrupt 5 "$folder_of_two" --out -
# shellcheck disable=SC2016
check predictions_name_the_files_that_are_left awk -v gone="$second" 'index($0, gone) { exit 1 }' out
check and_there_are_some [ "$(wc -l < out)" -gt 3 ]

# pictures with masks: a pair is left out where one of the two is damaged
if command -v python3 > /dev/null 2>&1; then
    python3 - << 'END'
import os, random, struct, zlib
def png(path, color, rows):
    chunk = lambda name, data: struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))
    body = zlib.compress(b"".join(b"\0" + bytes(r) for r in rows))
    with open(path, "wb") as f:
        f.write(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", 16, 16, 8, color, 0, 0, 0)) +
                chunk(b"IDAT", body) + chunk(b"IEND", b""))
r = random.Random(5)
for folder in "whole", "some":
    for part in "images", "masks": os.makedirs(f"{folder}/{part}")
for i in range(12):
    mask = [[int(x > i) for x in range(16)] for y in range(16)]
    rows = [[90 * v + r.randint(0, 50) for v in row for c in range(3)] for row in mask]
    for folder in ("whole", "some") if i not in (0, 5) else ("some",):
        png(f"{folder}/images/{i:02}.png", 2, rows)
        png(f"{folder}/masks/{i:02}.png", 0, mask)
for name in "some/images/00.png", "some/masks/05.png":
    with open(name, "r+b") as f: f.truncate(50)
END
    net="--model unet:0.1 --batch-size 5 --shards 1 --epochs 1 --seed 1 --json"
    run train --data masks:whole $net
    good=$(value weights_sha256)
    run train --data masks:some $net --skip-corrupt 2
    check pairs_are_left_out [ -n "$good" ] && [ "$(value weights_sha256)" = "$good" ]
    check the_first_is_named grep -q '"skipped_corrupt":2,"first_corrupt":"some/images/00.png"' out
    fails a_damaged_mask_is_named 1 "'some/masks/05.png': .*; --skip-corrupt 1 leaves out no more" train --data masks:some $net --skip-corrupt 1
fi
end_of_checks
