#!/bin/bash
# Programs outside the tree, built as their authors would. Usage: package_test.sh PREFIX WORK
# PREFIX is where Muster is installed; WORK is a folder that this script may empty.
set -eu
prefix=$(cd "$1" && pwd)
source=$(cd "$(dirname "$0")/../.." && pwd)
user=$source/test/package/user
rm -rf "$2" && mkdir -p "$2" && cd "$2"
libdir=$(echo "$prefix"/lib*)
export PKG_CONFIG_PATH=$libdir/pkgconfig
warnings="-Wall -Wextra -Wpedantic -Wconversion -Wshadow -Werror"

# pictures PROGRAM: it reads a PNG and a JPEG, where Muster has the codecs. Their files' first byte is for the fuzz target.
mkdir -p images/png/one images/jpeg/one
tail -c +2 "$source/fuzz/image_fuzz/rgba" > images/png/one/a.png
tail -c +2 "$source/fuzz/image_fuzz/jpeg" > images/jpeg/one/a.jpg
pictures() {
    local format
    for format in png jpeg; do
        if [ -e "$libdir/muster/libmuster-$format.so" ]; then
            "$1" images/$format
        else
            echo "skipped: there is no module $format"
        fi
    done
}

# These are lists of words on purpose.
# shellcheck disable=SC2046,SC2086
{
    echo "-- each public header alone, in C and in C++, with its own warnings"
    mkdir bare
    cp -r "$prefix/include/muster" bare
    for header in bare/muster/*.h; do
        case $header in */named.h) ;; *) sed -i '/^#pragma GCC system_header/s/.*//' "$header" ;; esac
    done
    for header in bare/muster/*.h; do
        printf '#include "%s"\nint one;\n' "$header" > header.c
        cc -std=c17 -Wall -Wextra -Wpedantic -Werror -Ibare -fsyntax-only -x c header.c
        c++ -std=c++17 -Wall -Wextra -Wpedantic -Werror -Ibare -fsyntax-only -x c++ header.c
    done

    echo "-- each function that makes a dataset has a form that nests"
    tr '\n' ' ' < "$prefix/include/muster/dataset.h" > flat
    tr '\n' ' ' < "$prefix/include/muster/transforms.h" >> flat
    makers=$(grep -oE 'mst_dataset_[a-z_0-9]+\([^;]*mst_dataset \*\*' flat | sed 's/(.*//; s/mst_dataset_//' | sort -u)
    [ "$(echo "$makers" | wc -l)" -ge 30 ] || { echo "error: the headers have few of them" && exit 1; }
    for maker in $makers; do
        [ $maker != relearn ] || continue # it makes several
        grep -qhE "mst_data_$maker(_with)?\(" "$prefix"/include/muster/*.h ||
            { echo "error: there is no mst_data_$maker" && exit 1; }
    done

    echo "-- no header names a file of the tree that it was made of"
    if grep -n -e '^#line' -e "$source" "$prefix"/include/muster/*.h; then
        echo "error: see above"
        exit 1
    fi

    echo "-- pkg-config, shared"
    cc -std=c17 $warnings "$user/main.c" -o shared $(pkg-config --cflags --libs muster)
    LD_LIBRARY_PATH=$libdir ./shared
    cc -std=c17 $warnings "$user/pictures.c" -o pictures_shared $(pkg-config --cflags --libs muster)
    LD_LIBRARY_PATH=$libdir pictures ./pictures_shared
    if ldd "$prefix/bin/muster" | grep 'cairo\|jpeg\|spng'; then
        echo "error: the command loads what only modules need"
        exit 1
    fi

    echo "-- license, manual page and completions"
    for file in doc/muster/LICENSE man/man1/muster.1 bash-completion/completions/muster zsh/site-functions/_muster \
        fish/vendor_completions.d/muster.fish; do
        [ -s "$prefix/share/$file" ] || { echo "error: share/$file is not installed" && exit 1; }
    done

    echo "-- the benchmarks stay in the build"
    if find "$prefix" -mindepth 1 -name '*bench*' | grep .; then
        echo "error: benchmarks are installed"
        exit 1
    fi

    echo "-- a stack protector, addresses that are bound at the start, and then read-only"
    for file in "$prefix/bin/muster" "$libdir"/libmuster.so; do
        readelf -d "$file" | grep -q 'BIND_NOW' || { echo "error: $file is bound lazily" && exit 1; }
        readelf -lW "$file" | grep -q GNU_RELRO || { echo "error: addresses of $file are not read-only" && exit 1; }
        readelf -sW --dyn-syms "$file" | grep -q __stack_chk_fail || { echo "error: $file has no stack protector" && exit 1; }
    done
    readelf -sW --dyn-syms "$libdir/libmuster.so" | grep -q '_chk@' || { echo "error: no _FORTIFY_SOURCE" && exit 1; }

    echo "-- pkg-config, static"
    cc -std=c17 $warnings "$user/main.c" -o static $(pkg-config --cflags muster) \
        $(pkg-config --static --libs muster | sed "s|-lmuster|$libdir/libmuster.a|")
    ./static
    if ldd static | grep libmuster; then
        echo "error: the static program loads libmuster.so"
        exit 1
    fi
    cc -std=c17 $warnings "$user/pictures.c" -o pictures_static $(pkg-config --cflags muster) \
        $(pkg-config --static --libs muster | sed "s|-lmuster|$libdir/libmuster.a|")
    pictures ./pictures_static

    echo "-- every macro of the public headers, in C++20 with each compiler that is here"
    for macro in $(grep -hoE 'define mst_[a-z0-9_]+\(' "$prefix"/include/muster/*.h | sed 's/define //; s/(//'); do
        grep -qE "\b$macro ?\(" "$user/named.cpp" || { echo "error: $user/named.cpp does not use $macro"; exit 1; }
    done
    for compiler in g++ clang++; do
        command -v $compiler > /dev/null || continue
        $compiler -std=c++20 $warnings "$user/named.cpp" -o named-$compiler $(pkg-config --cflags --libs muster)
        LD_LIBRARY_PATH=$libdir ./named-$compiler
    done

    echo "-- an option that is mistyped is named by the first error of few lines"
    for mistake in 'mst_dense(m, 10, .activaton = MST_RELU)' 'mst_conv2d(m, 8, 3, .activaton = MST_RELU)' \
        'mst_compile(m, .activaton = 0)' 'mst_adam(.activaton = 0)' 'mst_task_open(0, .activaton = 0)'; do
        printf '#include <muster/muster.h>\nvoid f(mst_model *m);\nvoid f(mst_model *m) { (void)m, (void)%s; }\n' "$mistake" > typo.c
        for compiler in 'cc -std=c17' 'c++ -std=c++20 -x c++'; do
            if LC_ALL=C $compiler $(pkg-config --cflags muster) -fsyntax-only typo.c 2> typo.err; then
                echo "error: $mistake compiles"
                exit 1
            fi
            grep -m 1 'error:' typo.err | grep -q activaton || { echo "error: $mistake is not named first:" && cat typo.err && exit 1; }
            # clang shows each macro on the way, whatever header it is in
            grep -q 'expanded from macro' typo.err || [ "$(wc -l < typo.err)" -le 8 ] ||
                { echo "error: $mistake is told in more than 8 lines:" && cat typo.err && exit 1; }
        done
    done

    echo "-- an int where a list of axes is wanted does not compile without a diagnostic"
    for value in 0 1; do
        printf '#include <muster/muster.h>\nmst_value f(mst_value x) { return mst_reduce_sum(x, .axes = %s); }\n' \
            $value > axes.c
        if cc -std=c17 -Werror $(pkg-config --cflags muster) -fsyntax-only axes.c 2> axes.err; then
            echo "error: .axes = $value was accepted"
            exit 1
        fi
        grep -q use_MST_AXES axes.err
        if c++ -std=c++20 $(pkg-config --cflags muster) -fsyntax-only -x c++ axes.c 2> axes.err; then
            echo "error: .axes = $value was accepted in C++"
            exit 1
        fi
    done
}

echo "-- find_package"
cmake -S "$user" -B find -DUSE=find_package -DCMAKE_PREFIX_PATH="$prefix" > find.log
cmake --build find > find-build.log
find/main && find/main_static
pictures find/pictures
pictures find/pictures_static

echo "-- add_subdirectory"
cmake -S "$user" -B subdirectory -DUSE=add_subdirectory -DMUSTER_SOURCE="$source" -DCMAKE_C_FLAGS=-Wfloat-equal > sub.log

echo "-- FetchContent, in a project whose own warnings are many and whose build type is not set"
cmake -S "$user" -B fetch -DUSE=FetchContent -DMUSTER_SOURCE="$source" -DCMAKE_C_FLAGS=-Wfloat-equal > fetch.log
cmake --build fetch --parallel "$(nproc)" > fetch-build.log 2>&1 || { tail -n 30 fetch-build.log; exit 1; }
fetch/main && fetch/main_static
pictures fetch/pictures
pictures fetch/pictures_static
