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

# All of build/release; what is built already stays. A build that is there is configured anew with the flags of CI.
make_release() {
    need
    if [ -e build/release/build.ninja ]; then cmake -B build/release "$MUSTER_CMAKE_FLAGS" > /dev/null; fi
    configure_release
    build_release --target all
}

# configure_clang FOLDER OPTION...: a build with clang, in FOLDER.
configure_clang() {
    need clang libomp-dev
    cmake -S . -B "$1" -G Ninja -DCMAKE_C_COMPILER=clang "${@:2}"
}

# All of build/clang.
make_clang() {
    configure_clang build/clang -DCMAKE_BUILD_TYPE=Release "$MUSTER_CMAKE_FLAGS"
    cmake --build build/clang
}

# build_and_test PRESET EXCLUDED [COMMAND...]: all tests but those that match EXCLUDED; COMMAND is put before ctest. Some
# tests wait most of the time, so one more than there are cores runs at once.
build_and_test() {
    need
    cmake --preset "$1"
    cmake --build --preset "$1"
    "${@:3}" ctest --preset "$1" --no-tests=error --parallel $((JOBS + 1)) -E "$2"
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
