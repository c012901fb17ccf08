#!/bin/sh
# Models of absurd sizes: one error at once, from the number of their parameters, before anything gets memory.
# Usage: size_test.sh PATH_OF_MUSTER
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
write_data data 40 8 32
run convert idx:data images:pictures
awk 'BEGIN { for (i = 0; i < 100; i++) print "the cat sees the dog" }' > book.txt
awk 'BEGIN { print "n,m,class"; for (i = 0; i < 40; i++) printf "%.1f,%d,%d\n", i / 7, i % 5, i % 2 }' > table.csv

# in 20 seconds and 1.5 GB of addresses, which none of these models fits into
printf '#!/bin/sh\nulimit -v 1500000\nexec timeout 20 "%s" "$@"\n' "$muster" > limited
chmod +x limited
muster=$folder/limited
gpt="--data lines:book.txt --sequence-length 8"
# too_large NAME PARAMETERS OPTION...
too_large() {
    name=$1 parameters=$2
    shift 2
    fails "$name" 1 "the model's $parameters parameters, .* need [0-9.]* TB, and this machine" train --steps 1 --batch-size 4 "$@"
}
# of the sizes in the names: 12 width^2 + 13 width a layer, 2 width at the end, (tokens + positions) * width
too_large gpt_of_many_wide_layers 12,000,013,266,000,000 $gpt --model gpt:1000x1000000
too_large gpt_of_one_wide_layer 12,000,279,000,000 $gpt --model gpt:1x1000000
too_large llama_of_wide_layers '[0-9,]*' $gpt --model llama:10x1000000
# inputs * units + units of each layer
too_large mlp_of_wide_layers 1,001,034,000,008 --data idx:data --hidden-units 1000000,1000000
too_large mlp_of_a_table '[0-9,]*' --data csv:table.csv --hidden-units 1000000,1000000
too_large mlp_with_many_classes '[0-9,]*' --data idx:data --hidden-units 1000000 --classes 1000000
fails convolutions_of_many_channels 1 "the model's [0-9,]* parameters, .* need [0-9.]* [GT]B, and this machine" \
    train --steps 1 --data images:pictures --model mobilenet_v2:100 --image-size 32
fails many_parameters_for_the_limit 1 "the model's 1,033,008 parameters, .* need 11.8 MB, the limit of a device (--memory-limit) is 5.0 MB" \
    train --steps 1 --data idx:data --hidden-units 1000 --memory-limit 5MB --devices cpu:1
end_of_checks
