# shellcheck shell=sh
# Sourced by the scripts beside it, from the root of the checkout: makes sure that packages are there.
#
#   need_packages PACKAGE...   installs what is missing with apt-get on Debian and Ubuntu; elsewhere checks for the
#                              tools and libraries themselves, and names what to install
#   missing_packages PACKAGE...   prints those that dpkg does not have
#   build_release [OPTION...]  builds build/release; options go to `cmake --build`

MUSTER_PACKAGES="build-essential cmake ninja-build pkg-config libdnnl-dev libisal-dev libjansson-dev libhwloc-dev libsodium-dev \
libprotobuf-c-dev protobuf-c-compiler protobuf-compiler libcmocka-dev libspng-dev libjpeg-dev libwebp-dev libgif-dev libzip-dev libhdf5-dev \
libcairo2-dev libpcre2-dev libsentencepiece-dev libzmq3-dev dataset-fashion-mnist"
# The build makes headers with awk. Any will do.
command -v awk > /dev/null 2>&1 || MUSTER_PACKAGES="$MUSTER_PACKAGES mawk"

say() {
    printf '== %s\n' "$*"
}

fail() {
    printf 'error: %s\n' "$*" >&2
    exit 1
}

missing_packages() {
    for package in "$@"; do
        case $(dpkg-query -W -f '${db:Status-Status}' "$package" 2> /dev/null) in
            installed) ;;
            *) printf '%s ' "$package" ;;
        esac
    done
}

# What can be seen without dpkg: prints what is not there, in words.
missing_elsewhere() {
    command -v cc > /dev/null 2>&1 || printf '%s\n' "a C compiler: gcc 10 or clang 12 or later"
    command -v cmake > /dev/null 2>&1 || printf '%s\n' "cmake 3.18 or later"
    command -v ninja > /dev/null 2>&1 || printf '%s\n' "ninja"
    command -v awk > /dev/null 2>&1 || printf '%s\n' "awk"
    command -v protoc-c > /dev/null 2>&1 || printf '%s\n' "protoc-c, the compiler of protobuf-c"
    if command -v pkg-config > /dev/null 2>&1; then
        for module in jansson libisal hwloc libsodium libprotobuf-c cmocka; do
            pkg-config --exists "$module" || printf '%s\n' "$module, with headers"
        done
    else
        printf '%s\n' "pkg-config" "jansson, ISA-L, hwloc, libsodium, protobuf-c and cmocka, with headers"
    fi
    found=
    for header in /usr/include/dnnl.h /usr/local/include/dnnl.h /usr/include/oneapi/dnnl/dnnl.h; do
        [ -e "$header" ] && found=yes
    done
    [ -n "$found" ] || printf '%s\n' "oneDNN 2.6 or later, with headers"
    [ -e /usr/share/datasets/fashion-mnist/train-images-idx3-ubyte.gz ] ||
        printf '%s\n' "Fashion-MNIST: its four .gz files in /usr/share/datasets/fashion-mnist"
}

need_packages() {
    if ! command -v dpkg-query > /dev/null 2>&1 || ! command -v apt-get > /dev/null 2>&1; then
        missing=$(missing_elsewhere)
        [ -z "$missing" ] && return 0
        printf '%s\n' "error: this is not Debian or Ubuntu, so nothing is installed for you. Missing here:" >&2
        printf '%s\n' "$missing" | sed 's/^/  /' >&2
        printf '%s\n' "On Debian the packages are: $*" >&2
        exit 1
    fi
    missing=$(missing_packages "$@")
    [ -z "$missing" ] && return 0
    say "installing: $missing"
    as_root=
    if [ "$(id -u)" -ne 0 ]; then
        command -v sudo > /dev/null 2>&1 ||
            fail "packages are missing, and this is neither root nor is there sudo; as root: apt-get install $missing"
        as_root=sudo
    fi
    # Old package lists name versions that are gone, so they are read anew.
    $as_root apt-get update -qq || fail "apt-get update failed: the lines above say why"
    # Missing is a list of words on purpose.
    # shellcheck disable=SC2086
    $as_root env DEBIAN_FRONTEND=noninteractive \
        apt-get install -y -qq --no-install-recommends $missing > /dev/null || fail "apt-get could not install $missing"
}

# Cores that this process may use: at most the machine's physical ones.
physical_cores() {
    usable=$(nproc 2> /dev/null || getconf _NPROCESSORS_ONLN)
    cores=$(lscpu -p=CORE,SOCKET 2> /dev/null | grep -v '^#' | sort -u | wc -l)
    if [ "$cores" -ge 1 ] && [ "$cores" -lt "$usable" ]; then
        echo "$cores"
    else
        echo "$usable"
    fi
}

# Configures build/release; quick when it is configured already.
configure_release() {
    [ -e build/release/build.ninja ] && return 0
    # What a configuration that failed left behind would be believed.
    rm -f build/release/CMakeCache.txt
    mkdir -p build/release
    # shellcheck disable=SC2086
    cmake -S . -B build/release -G Ninja -DCMAKE_BUILD_TYPE=Release ${MUSTER_CMAKE_FLAGS:-} > build/release/configure.log 2>&1 || {
        cat build/release/configure.log >&2
        fail "cmake could not configure the build: the lines above say why"
    }
}

# For ninja's line "step 12/280: Building ..." sets built to 12 and all to 280. Fails for any other line: the tools that
# ninja runs may print anything.
read_counter() {
    counter=${1#"step "}
    counter=${counter%%": "*}
    built=${counter%/*} all=${counter#*/}
    case $1 in "step $built/$all: "*) ;; *) return 1 ;; esac
    case $built$all in *[!0-9]*) return 1 ;; esac
    [ -n "$built" ] && [ "${all:-0}" -gt 0 ]
}

# Shows what ninja prints. Its lines "step 12/280: Building ..." become one counter that is rewritten in place or, where the
# output is no terminal, a line at each quarter; all other lines, such as warnings and errors, stay as they are.
show_build() {
    rewrite='' open='' quarter=0
    [ -t 1 ] && rewrite=yes
    while IFS= read -r line; do
        case $line in "step "*": Re-checking "* | "step "*": Re-running "* | "ninja: no work to do.") continue ;; esac
        if ! read_counter "$line"; then
            [ -n "$open" ] && printf '\n'
            open=
            printf '%s\n' "$line"
        elif [ -n "$rewrite" ]; then
            printf '\rbuilt %s of %s' "$built" "$all"
            open=yes
        elif [ $((4 * built / all)) -gt "$quarter" ]; then
            quarter=$((4 * built / all))
            printf 'built %s of %s\n' "$built" "$all"
        fi
    done
    [ -n "$open" ] && printf '\n'
    return 0
}

# Builds build/release, with the options of `cmake --build`; fails where the build does.
build_release() {
    rm -f build/release/failed
    {
        NINJA_STATUS='step %f/%t: ' cmake --build build/release "$@" 2>&1 || : > build/release/failed
    } | show_build
    [ ! -e build/release/failed ] || fail "the build failed: the lines above say where"
}
