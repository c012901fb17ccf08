#!/bin/sh
# What the shells complete: commands, options, values, data specs and files. bash's function is called as bash calls it;
# zsh runs in a terminal and fish is asked, where they are installed. Usage: completion_test.sh PATH_OF_MUSTER
set -u
muster=$(cd "$(dirname "$1")" && pwd)/$(basename "$1")
here=$(cd "$(dirname "$0")/.." && pwd)
. "$here/support/checks.sh"

mkdir bin work work/pictures work/pictures-too
ln -s "$muster" bin/muster
PATH=$folder/bin:$PATH
touch work/some-table.csv work/pictures.npz 'work/two words.csv'
for shell in bash zsh fish; do "$muster" help completion $shell > script.$shell; done

# ---- bash --------------------------------------------------------------------------------------------

cat > bash-line << 'END'
cd work
. ../script.bash
# WORDS...: what bash makes of the line, the last of them to be completed
COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
_muster
printf '%s\n' "${COMPREPLY[@]}" | sort | paste -sd ' '
END
# in_bash NAME WANTED WORDS...
in_bash() {
    name=$1 wanted=$2
    shift 2
    bash bash-line "$@" > out 2> err
    [ ! -s err ] && [ "$(cat out)" = "$wanted" ] && ok "$name" || failed "$name" "'$(cat out)' and not '$wanted'"
}
check bash_script_is_a_script bash -n script.bash
in_bash bash_completes_a_command inspect muster insp
in_bash bash_completes_a_value mirrored muster train --strategy mi
in_bash bash_completes_a_value_behind_an_equals_sign mirrored muster train --strategy = mi
in_bash bash_completes_a_precision mixed_bfloat16 muster predict --precision mi
in_bash bash_completes_a_pass stablehlo muster train --dump-plan stab
in_bash bash_completes_an_option --strategy muster train --strat
in_bash bash_completes_a_kind_of_data images: muster train --data im
in_bash bash_completes_a_kind_without_a_path fashion-mnist muster train --data f
in_bash bash_completes_kinds_behind_an_equals_sign csv: muster train --data = cs
in_bash bash_completes_the_path_of_data some-table.csv muster predict --data csv : some-t
in_bash bash_completes_the_path_behind_an_equals_sign some-table.csv muster predict --data = csv : some-t
in_bash bash_completes_an_empty_path "pictures pictures-too pictures.npz some-table.csv two words.csv" muster train --data npz :
in_bash bash_keeps_names_with_blanks "two words.csv" muster train --data csv : two
in_bash bash_completes_folders_where_data_is_one "pictures pictures-too" muster train --data images : pic
in_bash bash_completes_specs_that_are_no_option npz: muster convert np
in_bash bash_completes_a_second_spec tfrecord: muster convert fashion-mnist tfr
in_bash bash_completes_an_option_that_is_a_file some-table.csv muster evaluate --load some-t
in_bash bash_completes_files_that_are_no_option some-table.csv muster inspect some-t
in_bash bash_completes_topics_of_help completion muster help compl

# ---- zsh ---------------------------------------------------------------------------------------------

# The line after a Tab, of a zsh that has a terminal.
cat > zsh-line << 'END'
zmodload zsh/zpty
zmodload zsh/zselect
result=$PWD/zsh-result
rm -f $result
zpty -b shell "TERM=dumb zsh -f -i"
zpty -w shell "cd work; autoload -U compinit; compinit -u -D; zstyle ':completion:*' menu no; $1
show() { print -r -- \$BUFFER > $result.new; mv $result.new $result; BUFFER=; }; zle -N show; bindkey '^T' show
: > $result"
# What the shell prints is read on, so that it never waits; its answer is waited for, at most 20 s.
answer() {
    local text tries=0
    while [ ! -e $result ]; do
        (( tries++ < 400 )) || { echo 'zsh gives no answer'; return 1; }
        zpty -rt shell text 2> /dev/null
        zselect -t 5
    done
    return 0
}
answer || exit 1
while read -r line; do
    rm $result
    zpty -wn shell "$line"$'\t'$'\x14'
    answer || exit 1
    cat $result
done
zpty -d shell
END
cat > zsh-wanted << 'END'
muster insp>muster inspect 
muster train --strat>muster train --strategy=
muster train --strategy mi>muster train --strategy mirrored 
muster train --data im>muster train --data images:
muster train --data=cs>muster train --data=csv:
muster train --data f>muster train --data fashion-mnist 
muster predict --data csv:some-t>muster predict --data csv:some-table.csv 
muster predict --data=csv:some-t>muster predict --data=csv:some-table.csv 
muster train --data npz:pictures.>muster train --data npz:pictures.npz 
muster train --data images:pictures->muster train --data images:pictures-too/
muster train --data images:some-t>muster train --data images:some-t
muster convert np>muster convert npz:
muster convert fashion-mnist csv:some-t>muster convert fashion-mnist csv:some-table.csv 
muster evaluate --load some-t>muster evaluate --load some-table.csv 
muster inspect some-t>muster inspect some-table.csv 
END
# zsh_completes NAME COMMAND: COMMAND lets zsh know the script
zsh_completes() {
    cut -d '>' -f 1 zsh-wanted | zsh -f zsh-line "$2" > out 2> err
    cut -d '>' -f 2 zsh-wanted | sed 's/ $//' > wanted
    sed 's/ $//' out > got
    if diff wanted got > err 2>&1; then ok "$1"; else failed "$1" "$(cat err)"; fi
}
if command -v zsh > /dev/null; then
    check zsh_script_is_a_script zsh -n script.zsh
    zsh_completes zsh_completes_after_eval '. ../script.zsh'
    mkdir functions && cp script.zsh functions/_muster
    zsh_completes zsh_completes_from_a_folder_of_functions 'fpath=(../functions $fpath); compinit -u -D'
else
    echo "skipped: there is no zsh"
fi

# ---- fish --------------------------------------------------------------------------------------------

# in_fish NAME WANTED LINE: the completions of the line, without what they say of each
in_fish() {
    (cd work && fish --no-config -c "source ../script.fish; complete -C '$3'") > out 2> err
    got=$(cut -f 1 out | LC_ALL=C sort | paste -sd ' ')
    [ ! -s err ] && [ "$got" = "$2" ] && ok "$1" || failed "$1" "'$got' and not '$2'"
}
if command -v fish > /dev/null; then
    HOME=$folder
    export HOME
    check fish_script_is_a_script fish --no-config -n script.fish
    in_fish fish_completes_a_command inspect 'muster insp'
    in_fish fish_completes_an_option --strategy 'muster train --strat'
    in_fish fish_completes_a_value mirrored 'muster train --strategy mi'
    in_fish fish_completes_a_kind_of_data images: 'muster train --data im'
    in_fish fish_completes_a_kind_without_a_path fashion-mnist 'muster train --data fa'
    in_fish fish_completes_the_path_of_data csv:some-table.csv 'muster predict --data csv:some-t'
    in_fish fish_completes_the_path_behind_an_equals_sign --data=csv:some-table.csv 'muster predict --data=csv:some-t'
    in_fish fish_completes_folders_where_data_is_one "images:pictures-too/ images:pictures/" 'muster train --data images:pic'
    in_fish fish_completes_nothing_that_is_no_folder "" 'muster train --data images:some-t'
    in_fish fish_completes_specs_that_are_no_option npz: 'muster convert npz'
    in_fish fish_completes_a_second_spec csv:some-table.csv 'muster convert fashion-mnist csv:some-t'
    in_fish fish_completes_an_option_that_is_a_file some-table.csv 'muster evaluate --load some-t'
    in_fish fish_completes_files_that_are_no_option some-table.csv 'muster inspect some-t'
else
    echo "skipped: there is no fish"
fi

# ---- what is completed is explained -------------------------------------------------------------------

# All words that can follow an option are in its help, and in the manual. Options of several commands are in the help of
# each.
"$muster" help man | sed 's/[\\]-/-/g' > manual
sed -n "s/^        '\([a-z]*\) --\([a-z0-9-]*\)') COMPREPLY=(\$(compgen -W '\([^']*\)'.*/\1 \2 \3/p" script.bash > values
check values_are_found test "$(wc -l < values)" -ge 20
while read -r command option words; do
    "$muster" help "$command" > whole
    # the help of the option: from its line to that of the next one
    awk -v option="--$option" '/^  --/ { on = $1 == option } on' whole > text
    awk -v option="--$option" '/^[.]TP/ { on = 0 } /^[.]B --/ { on = $2 == option } on' manual > text-of-manual
    missing=
    for word in $words; do
        for page in text text-of-manual; do grep -q -w -e "$word" "$page" || missing="$missing $word ($page)"; done
    done
    [ -z "$missing" ] || failed "help_has_all_values_of_${command}_$option" "$missing"
done < values
ok help_has_been_compared_with_the_values

end_of_checks
