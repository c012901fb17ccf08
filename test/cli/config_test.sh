#!/bin/sh
# Options from files, and what a shell completes. Usage: config_test.sh PATH_OF_MUSTER
# lists of options are split on purpose
# shellcheck disable=SC2086
set -u
muster=$(cd "$(dirname "$1")" && pwd)/$(basename "$1")
here=$(cd "$(dirname "$0")/.." && pwd)
. "$here/support/checks.sh"
. "$here/support/small_data.sh"
write_data data

# ---- files of options --------------------------------------------------------------------------------

cat > run.conf << 'END'
# a small training
  data = idx:data   # where write_data puts it

hidden_units = 16,8
batch-size=40
learning-rate = 0.01
json = yes
epochs = 2
shuffle = false
devices = cpu:1
END
run train --data idx:data --hidden-units 16,8 --batch-size 40 --learning-rate 0.01 --json --epochs 2 --no-shuffle --devices cpu:1
wanted=$(value weights_sha256)
check the_reference_has_a_hash [ -n "$wanted" ]
run train --config run.conf
check file_gives_the_training_of_its_options [ $status -eq 0 -a "$(value weights_sha256)" = "$wanted" ]
run train --seed 1 --config run.conf --epochs 1
check options_of_the_command_line_count_before_the_file [ $status -eq 0 -a "$(value step)" = 11 ]
run train --epochs=1 --config=run.conf
check that_does_not_depend_on_the_order [ $status -eq 0 -a "$(value step)" = 11 ]
run train --config run.conf --steps 3
check option_that_excludes_one_of_the_file_counts_before_it [ $status -eq 0 -a "$(value step)" = 3 ]
run train --config run.conf --steps 3 --print-config
check excluded_option_is_not_in_effect sh -c 'grep -q "^steps = 3$" out && grep -q "^# epochs = 5$" out'
mkdir ck
printf 'load = none.npz\n' > load.conf
fails excluded_text_of_a_file_is_gone 1 "no checkpoint" evaluate --config load.conf --checkpoint-dir ck --data idx:data
works flag_of_a_file_can_be_switched_off "^done: step 22" train --config run.conf --no-json
tr '\n' ';' < run.conf | sed 's/;/\r\n/g' > dos.conf
run train --config dos.conf
check file_with_line_ends_of_dos_is_the_same [ "$(value weights_sha256)" = "$wanted" ]
printf 'data = idx:data\nsteps = 1' > short.conf
works last_line_needs_no_end "^done: step 1," train --config short.conf
: > empty.conf
works empty_file_sets_nothing "^done: step 1," train --config empty.conf --data idx:data --steps 1

# ---- options in effect -------------------------------------------------------------------------------

works options_in_effect_are_printed "^learning-rate = 0.01" train --config run.conf --print-config --seed 3
check nothing_is_trained_then sh -c '! grep -q "done" out'
check options_of_the_command_line_are_printed_too grep -q '^seed = 3$' out
check defaults_are_comments grep -q '^# log-every = 100$' out
cp out printed.conf
run train --config run.conf --seed 3
wanted=$(value weights_sha256)
run train --config printed.conf
check training_of_the_printed_file_is_the_same [ -n "$wanted" -a "$(value weights_sha256)" = "$wanted" ]
run train --config printed.conf --print-config
check printed_file_is_printed_as_it_is cmp -s out printed.conf
# a learning rate that is given, even the default, has no schedule: so what is not given must not look as if it were
run train --data idx:data --steps 3 --json
wanted=$(value weights_sha256)
"$muster" train --data idx:data --steps 3 --json --print-config > printed.conf
run train --config printed.conf
check defaults_in_a_printed_file_stay_defaults [ "$(value weights_sha256)" = "$wanted" ]

odd_name=' odd "name" #1\'
for text in "$odd_name" 'a #b' '#b' '"quoted"' "$(printf 'a\tb\nc')" 'a#b' 'trailing '; do
    "$muster" predict --out "$text" --print-config > odd.conf
    "$muster" predict --config odd.conf --print-config > out
    check "text_survives_print_and_read: $(printf %s "$text" | tr '\n\t' '__')" [ "$(grep -c '^out = ' out)" -eq 1 -a "$(cat out)" = "$(cat odd.conf)" ]
done
printf 'out = " odd \\"name\\" #1\\\\"   # quoted\n' > odd.conf
"$muster" predict --out "$odd_name" --print-config > wanted
"$muster" predict --config odd.conf --print-config > out
check quotes_hold_any_text cmp -s out wanted

for command in convert devices evaluate plot predict train; do
    run $command --print-config
    check "${command}_prints_its_options" [ $status -eq 0 -a ! -s err -a "$(head -c 15 out | cut -d ' ' -f 1-2)" = '# muster' ]
    "$muster" $command --print-config | sed 's/^# \([a-z0-9-]* = \)/\1/' > all.conf
    run $command --config all.conf --print-config
    check "${command}_reads_all_that_it_prints" [ $status -eq 0 ]
done
printf 'devices = cpu:3\njson = true\n' > devices.conf
works file_of_another_command "CPU:2" devices --config devices.conf

# ---- files that are wrong ----------------------------------------------------------------------------

# wrong NAME PATTERN TEXT: a file of TEXT is refused, with file, line and PATTERN
wrong() {
    printf "%b" "$3" > wrong.conf
    fails "$1" 2 "'wrong.conf', line $2" train --config wrong.conf
}
wrong unknown_option_in_a_file_names_the_nearest "3: .*'epoch'.*'--epochs'" '# one\n\nepoch = 3\n'
wrong wrong_value_in_a_file_says_what_is_right "1: --epochs 0.*above 0\|1: --epochs 0.*at least 1" 'epochs = 0\n'
wrong wrong_choice_in_a_file_names_the_nearest "2: .*'mirored'.*'mirrored'" 'seed = 1\nstrategy = mirored\n'
wrong line_without_equals_sign_says_how "1: 'evaluate'.*name = value" 'evaluate\n'
wrong line_without_name_says_how "1: .*name = value" '= 3\n'
wrong option_set_twice_names_the_first "3: 'epochs' is set in line 1" 'epochs = 3\nseed = 1\nepochs = 4\n'
wrong another_file_in_a_file_is_refused "1: 'config' can stand on the command line only" 'config = other.conf\n'
wrong printing_in_a_file_is_refused "1: 'print-config' can stand on the command line only" 'print_config = true\n'
wrong dashes_before_a_name_are_refused "1: there is no option '--epochs'" '--epochs = 3\n'
wrong open_quotes_are_told '1: the quotes are not closed' 'save = "x.npz\n'
wrong text_after_quotes_is_told "1: 'y' after the quotes" 'save = "x" y\n'
wrong unknown_escape_is_told '1: in quotes' 'save = "\\x"\n'
wrong empty_value_in_a_file_is_refused "1: --data" 'data =\n'
printf 'epochs = 0\n' > wrong.conf
fails value_of_a_file_is_checked_also_where_another_counts 2 "line 1: --epochs 0" train --config wrong.conf --epochs 1
printf 'a\0b = 1\n' > wrong.conf
fails file_with_a_byte_0_is_refused 2 "'wrong.conf': is no text" train --config wrong.conf
fails missing_file_of_options_is_named 2 "nowhere.conf" train --config nowhere.conf
fails folder_as_file_of_options_is_refused 2 "'data'" train --config data
fails two_files_of_options_are_refused 2 "--config: give one file" train --config run.conf --config run.conf
fails option_of_another_command_is_refused 2 "'run.conf', line 2: there is no option 'data'" devices --config run.conf
printf 'epochs = 3\nsteps = 3\n' > wrong.conf
fails options_that_exclude_each_other_do_so_in_a_file_too 2 "--epochs or --steps, not both" train --config wrong.conf

# ---- completion --------------------------------------------------------------------------------------

for shell in bash zsh fish; do
    works "there_is_completion_for_$shell" 'mirrored' help completion $shell
    mv out muster.$shell
    for word in train batch-size no-shuffle mean_squared_error print-config name-map class-names; do
        check "${shell}_completes_$word" grep -q -e "$word" muster.$shell
    done
done
fails completion_for_another_shell_says_which_there_are 2 "'tcsh': there is bash, zsh, fish" help completion tcsh
fails completion_without_shell_says_which_there_are 2 "bash, zsh or fish" help completion

# lines to be completed, and what they become
cat > lines << 'END'
muster tra|train
muster train --strategy mi|mirrored
muster train --checkp|--checkpoint-dir
muster train --no-sh|--no-shuffle
muster help comp|completion
muster help completion fi|fish
muster evaluate --config run.c|run.conf
muster inspect run.c|run.conf
END
cut -d '|' -f 2 lines > wanted

cat > complete.bash << 'END'
. ./muster.bash
while IFS='|' read -r line word; do
    read -r -a COMP_WORDS <<< "$line"
    COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
    _muster
    echo "${COMPREPLY[*]}"
done
END
grep -v inspect lines | bash complete.bash > out 2> err # bash completes files by itself
grep -v run.conf lines | cut -d '|' -f 2 > wanted.bash
check bash_completes_as_wanted sh -c 'grep -v run.conf out | cmp -s - wanted.bash'

if command -v fish > /dev/null 2>&1; then
    cat > complete.fish << 'END'
source muster.fish
cut -d '|' -f 1 lines | while read line
    complete -C $line | string split -f 1 \t
end
END
    fish complete.fish > out 2> err
    check fish_completes_as_wanted cmp -s out wanted
else
    printf 'skip fish_completes_as_wanted: there is no fish\n'
fi

# Types each line and a tab into a zsh on a terminal of its own.
cat > complete.zsh << 'END'
zmodload zsh/zpty || exit 1
zpty -b z zsh -f -i
zpty -w z 'PROMPT= ; setopt no_beep; autoload -Uz compinit && compinit -u -D; source ./muster.zsh; print READ''Y'
for ((i = 0; i < 100; i++)); do
    zpty -r -t z text && [[ $text == *READY* ]] && break
    sleep 0.1
done
while IFS='|' read -r line word; do
    zpty -n -w z "$line"$'\t'
    text= found=
    for ((i = 0; i < 50; i++)); do
        while zpty -r -t z more; do text+=$more; done
        [[ $text == *$word* ]] && found=$word && break
        sleep 0.1
    done
    print -r -- "$found"
    zpty -n -w z $'\x15'
done
zpty -d z
END
if command -v zsh > /dev/null 2>&1; then
    check completion_for_zsh_is_a_script zsh -n muster.zsh
    TERM=vt100 zsh -f complete.zsh < lines > out 2> err
    check zsh_completes_as_wanted cmp -s out wanted
else
    printf 'skip zsh_completes_as_wanted: there is no zsh\n'
fi

end_of_checks
