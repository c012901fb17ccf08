# shellcheck shell=bash
# Sourced by the stages of CI beside it: goes to the root of the checkout, and makes what several of them need. A stage
# can be run alone, in a fresh clone too: scripts/ci/STAGE. It exits with 0, or with 77 where it was skipped (skip).
set -eu
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
. scripts/packages.sh

# shellcheck disable=SC2034
ROOT=$PWD
LOGS=$ROOT/build/ci
JOBS=$(nproc)
export MUSTER_CMAKE_FLAGS=-DMUSTER_WERROR=ON
# If ccache is installed, builds reuse what earlier runs have compiled, even in another clone.
if command -v ccache > /dev/null; then
    export CMAKE_C_COMPILER_LAUNCHER=ccache CCACHE_BASEDIR=$ROOT CCACHE_NOHASHDIR=1
fi
mkdir -p "$LOGS"

skip() {
    echo "skipped: $*"
    exit 77
}

# Packages that all builds need, and those that the arguments name.
need() {
    # shellcheck disable=SC2086
    need_packages $MUSTER_PACKAGES "$@"
}

# All of build/release; what is built already stays. A build that is there is configured anew with the flags of CI. Of
# stages that run beside each other one builds, and the other waits for it.
make_release() {
    local lock
    exec {lock}> build/release.lock
    flock "$lock"
    need
    if [ -e build/release/build.ninja ]; then cmake -B build/release "$MUSTER_CMAKE_FLAGS" > /dev/null; fi
    configure_release
    build_release --target all
    exec {lock}>&-
}

# What Muster is compared with, in build/peers. As with build/release, one stage installs it and the others wait.
make_peers() {
    local lock
    exec {lock}> build/peers.lock
    flock "$lock"
    scripts/peers tensorflow tensorboard onnx sklearn tf2onnx jax tokenizers
    exec {lock}>&-
}

# Builds that are not installed are linked by lld where it is there: of hundreds of programs, that takes a third of the
# time.
use_fast_linker() {
    if command -v ld.lld > /dev/null; then export LDFLAGS=-fuse-ld=lld; fi
}

# configure_clang FOLDER OPTION...: a build with clang, in FOLDER.
configure_clang() {
    need clang libomp-dev
    use_fast_linker
    cmake -S . -B "$1" -G Ninja -DCMAKE_C_COMPILER=clang "${@:2}"
}

# run_beside LOG COMMAND...: starts a command, whose output goes to build/ci/LOG. all_have_ended waits for those that were
# started, prints their output, and fails where one of them has.
beside=()
run_beside() {
    "${@:2}" > "$LOGS/$1" 2>&1 &
    beside+=("$!" "$1")
}
all_have_ended() {
    local status=0 i
    for ((i = 0; i < ${#beside[@]}; i += 2)); do
        wait "${beside[i]}" || { status=1; echo "failed: ${beside[i + 1]}"; }
        cat "$LOGS/${beside[i + 1]}"
    done
    return $status
}

# exclude FOLDER NAME...: sets EXCLUDED, for ctest -E, to the tests of these names, which the build in FOLDER must have.
# cli/ is the name of all in a folder; a name may be an expression without "|". There are no parentheses, of which ctest
# takes ten and says nothing where there are more.
exclude() {
    local tests name all
    tests=$(cd "$1" && ctest -N | awk '$2 ~ /^#/ { print $3 }')
    EXCLUDED='^$'
    for name in "${@:2}"; do
        all=${name/%\//\/.*}
        grep -qxE -e "$all" <<< "$tests" ||
            fail "$0 leaves out the test $name, which $1 does not have: correct its list"
        EXCLUDED="$EXCLUDED|^$all\$"
    done
}

# needed_targets FOLDER: what a build must make for the tests that EXCLUDED leaves: the programs that they name, the command
# with what its tests use beside it, and all modules and plugins, which are loaded by name.
needed_targets() {
    local words
    # ctest itself tells no command whose program is not there yet
    words=$(find "$1" -name CTestTestfile.cmake -exec sed -n 's/^add_test(\[=*\[\(.*\)\]=*\] "/\1 "/p; s/^add_test(//p' {} + |
        awk -v excluded="$EXCLUDED" '$1 !~ excluded' | grep -o "$ROOT/$1/[^\" ]*")
    {
        printf '%s\n' muster_command listener interrupted
        sed "s,^$ROOT/$1/,," <<< "$words" # files
        sed 's,.*/,,' <<< "$words"        # tests that are links to the program of their folder
        ninja -C "$1" -t targets all | sed -n 's,^\([^ ]*\.so\): .*,\1,p'
    } | sort -u | comm -12 - <(ninja -C "$1" -t targets all | sed 's,: .*,,' | sort -u)
}

# build_and_test PRESET [COMMAND...]: all tests but those that the list `excluded` names; COMMAND is put before ctest. Some
# tests wait most of the time, so one more than there are cores runs at once.
build_and_test() {
    need
    use_fast_linker
    cmake --preset "$1"
    exclude "build/$1" "${excluded[@]}"
    # shellcheck disable=SC2046
    cmake --build --preset "$1" --target $(needed_targets "build/$1")
    "${@:2}" ctest --preset "$1" --no-tests=error --parallel $((JOBS + 1)) -E "$EXCLUDED"
}

# Whether clang has its fuzzer, whose package has the name of clang's version.
need_fuzzer() {
    need clang
    can_fuzz || (need_packages "libclang-rt-$(clang -dumpversion | cut -d. -f1)-dev") && can_fuzz
}

can_fuzz() {
    echo 'int LLVMFuzzerTestOneInput(const unsigned char *d, unsigned long n) { (void)d; return (int)(n - n); }' |
        clang -fsanitize=fuzzer,address -x c - -o /dev/null 2> /dev/null
}
