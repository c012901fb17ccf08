#!/bin/sh
# Muster's own modules as users of the command meet them: loaded when first used, looked for where they are installed, and
# one error where one is missing or is none.
#   command_test.sh MUSTER FOLDER: the path of the command, and the folder of the modules that only tests load
# lists of options are split on purpose
# shellcheck disable=SC2086
set -u
muster=$(cd "$(dirname "$1")" && pwd)/$(basename "$1")
strange=$(cd "$2" && pwd)
here=$(cd "$(dirname "$0")/.." && pwd)
. "$here/support/checks.sh"
unset MUSTER_MODULE_PATH
built=$(dirname "$muster")

. "$here/support/small_data.sh"
write_data data
mkdir -p pictures/train/one pictures/train/two
# the first byte of these files is for the fuzz target
tail -c +2 "$here/../fuzz/image_fuzz/jpeg" > pictures/train/one/a.jpg
tail -c +2 "$here/../fuzz/image_fuzz/rgba" > pictures/train/two/b.png
small="--data idx:data --hidden-units 16 --batch-size 40 --progress none"
images="--data images:pictures --hidden-units 4 --batch-size 2 --steps 1 --progress none"

# has NAME: this build has the module
has() { [ -e "$built/libmuster-$1.so" ] || { printf 'skip %s: this build has no such module\n' "$1" && false; }; }

# maps ARGUMENT...: leaves in `all` what libraries are mapped while the command runs
maps() {
    LD_DEBUG=files LD_DEBUG_OUTPUT=loaded "$muster" "$@" > out 2> err && cat loaded.* > all && rm loaded.*
}

no_codec() { grep -q libmuster.so all && ! grep -q 'cairo\|libjpeg\|libspng\|libmuster-' all; }

# what fontconfig, below cairo, does not give back is not for the leak checker of a build with sanitizers
echo 'leak:libfontconfig' > lsan.supp
LSAN_OPTIONS=suppressions=$folder/lsan.supp:print_suppressions=0
export LSAN_OPTIONS

# ---- when they are loaded ----------------------------------------------------------------------------

check a_log_is_written maps train $small --epochs 2 --logdir log
check training_loads_no_codec no_codec
check plots_are_shown maps plot log
check plots_in_the_terminal_load_no_codec no_codec
if has plot; then
    check pictures_of_plots_are_written maps plot log --output a.png
    check pictures_of_plots_load_cairo grep -q libcairo all
fi
if has jpeg && has png; then
    works pictures_are_read "^done" train $images
fi

# ---- where they are looked for -----------------------------------------------------------------------

# The command and the library in folders of their own, without modules.
mkdir -p alone/bin alone/lib/muster elsewhere
cp "$muster" alone/bin
cp "$built/libmuster.so.0" alone/lib
muster=$folder/alone/bin/muster
LD_LIBRARY_PATH=$folder/alone/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
export LD_LIBRARY_PATH

fails missing_module_is_told_with_what_where_and_what_to_do 1 \
    "out: no plots as PNG and SVG.*'plot'.* libmuster-plot.so .*'$folder/alone/lib/muster' or '$folder/alone/lib': install" \
    plot log --output a.png
fails missing_codec_is_told_with_the_file 1 "[ab][.][jp][pn]g': no .* pictures.* libmuster-[jp][pn]e*g.so .*: install" \
    train $images
works version_tells_what_is_missing "cairo .*missing .*plots as PNG and SVG: install" version
works plots_in_the_terminal_need_no_module "^epoch_loss" plot log

# found NAME FOLDER: a module there is used
found() {
    cp "$built/libmuster-plot.so" "$2"
    works "$1" "^a.svg: " plot log --output a.svg
    rm "$2/libmuster-plot.so"
}
if has plot; then
    found module_is_found_in_the_folder_muster_beside_the_library alone/lib/muster
    found module_is_found_beside_the_library alone/lib
    MUSTER_MODULE_PATH=/nowhere:$folder/elsewhere
    export MUSTER_MODULE_PATH
    found module_is_found_in_a_folder_of_the_path elsewhere
fi

# ---- what is no module of this version ---------------------------------------------------------------

MUSTER_MODULE_PATH=$folder/elsewhere
export MUSTER_MODULE_PATH

# refuses NAME PATTERN: of the file elsewhere/libmuster-plot.so
refuses() { fails "$1" 1 "libmuster-plot.so.*$2" plot log --output a.png; }

echo "no library" > elsewhere/libmuster-plot.so
refuses file_that_is_no_library_is_named "install cairo (package libcairo2-dev), or build"
cp "$strange/libmuster-outdated.so" elsewhere/libmuster-plot.so
refuses module_of_another_interface_is_told "was built for another version: build it for this one"
cp "$strange/libmuster-older.so" elsewhere/libmuster-plot.so
fails another_module_is_told 1 "module 'plot': what is there is another module, 'older'" plot log --output a.png
end_of_checks
