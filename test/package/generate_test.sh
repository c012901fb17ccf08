#!/bin/sh
# The scripts that make headers and tables (cmake/*.awk) refuse what they cannot read, each time with the file, the line
# and what is wrong; and what they make of a file sends errors of the compiler back to it.
set -eu
cmake=$(cd "$(dirname "$0")/../.." && pwd)/cmake
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
failed=0

header() {
    awk -v out=made.h -v name=ops -v block=MST_OP_HEADER -f "$cmake/source.awk" -f "$cmake/header.awk" "$@"
}

table() {
    awk -v out=made.c -v type=mst_op -v make=table -f "$cmake/source.awk" -f "$cmake/table.awk" "$@"
}

kind() {
    awk -v out=made.h -v kind=loss -v plural=losses -v enum=mst_loss -v block=MST_LOSS_HEADER -v make=header \
        -f "$cmake/source.awk" -f "$cmake/kind.awk" "$@"
}

error() {
    echo "error: $*"
    failed=1
}

# refused SCRIPT MESSAGE: of the file a.c on standard input the script makes nothing, and says MESSAGE.
refused() {
    cat > a.c
    if "$1" a.c > made 2> said; then
        error "$1 took what should have made it say '$2':"
        cat a.c
    elif ! grep -qF -e "$2" said; then
        error "$1 does not say '$2' but:"
        cat said
    fi
}

# ---- the block ----------------------------------------------------------------------------------------------------

refused header 'a.c:3: the block ends at its first #endif: there can be no condition in it' << 'END'
/** a */
#ifdef MST_OP_HEADER
#ifdef __cplusplus
int a;
#endif
#endif
END
refused header 'a.c:4: the block ends at its first #endif: there can be no condition in it' << 'END'
/** a */
#ifdef MST_OP_HEADER
int a;
#else
int b;
#endif
END
refused header 'a.c:3: the block stands once in a file, on the line after the comment' << 'END'
/** a */
#include "op/op.h"
#ifdef MST_OP_HEADER
int a;
#endif
END
refused header 'a.c:1: the block stands once in a file, on the line after the comment' << 'END'
#ifdef MST_OP_HEADER
int a;
#endif
END
refused header 'a.c:6: the block stands once in a file, on the line after the comment' << 'END'
/** a
 */
#ifdef MST_OP_HEADER
int a;
#endif
#if defined(MST_OP_HEADER)
int b;
#endif
END
refused header 'a.c:2: `#ifdef MST_RULE_HEADER` where only `#ifdef MST_OP_HEADER` can stand' << 'END'
/** a */
#ifdef MST_RULE_HEADER
int a;
#endif
END
refused header 'a.c:2: `#ifdef MST_OP_HAEDER` where only `#ifdef MST_OP_HEADER` can stand' << 'END'
/** a */
#ifdef MST_OP_HAEDER
int a;
#endif
END
refused header 'a.c:3: the block has no #endif' << 'END'
/** a */
#ifdef MST_OP_HEADER
int a;
END
refused header 'a.c:2: the comment has no end' << 'END'
/** a
#ifdef MST_OP_HEADER
END

# The file that is not the last.
printf '/** a */\n#ifdef MST_OP_HEADER\nint a;\n' > a.c
printf '/** b */\n#ifdef MST_OP_HEADER\nint b;\n#endif\n' > b.c
if header a.c b.c > made 2> said || ! grep -q 'a.c:3: the block has no #endif' said; then
    error "a block without an end, in the first of two files, is not found"
fi

# ---- definitions --------------------------------------------------------------------------------------------------

refused table 'a.c:1: a definition is `const mst_op mst_op_NAME = {`, all on one line' << 'END'
const mst_op mst_op_a =
    {.name = "a"};
END
refused table 'a.c:1: a definition is `const mst_op mst_op_NAME = {`, all on one line' << 'END'
const mst_op
    mst_op_a = {.name = "a"};
END
refused table 'a.c:2: a definition is `const mst_op mst_op_NAME = {`, all on one line' << 'END'

const mst_op op_a = {.name = "a"};
END
refused table 'a.c:1: a definition is `const mst_op mst_op_NAME = {`, all on one line' << 'END'
const mst_op mst_op_a[] = {{.name = "a"}};
END

# ---- kinds --------------------------------------------------------------------------------------------------------

refused kind 'a.c:3: an enumerator is written `enum { MST_NAME = NUMBER };`' << 'END'
/** a */
#ifdef MST_LOSS_HEADER
enum { MST_LOSS_A = 0, };
#endif
const mst_loss_form mst_loss_form_a = {0};
END
refused kind 'a.c:4: a file has one enumerator' << 'END'
/** a */
#ifdef MST_LOSS_HEADER
enum { MST_LOSS_A = 0 };
enum { MST_LOSS_B = 1 };
#endif
const mst_loss_form mst_loss_form_a = {0};
END
refused kind 'a.c:4: the block has no enumerator `enum { MST_NAME = NUMBER };`' << 'END'
/** a */
#ifdef MST_LOSS_HEADER
#define mst_a 1
#endif
const mst_loss_form mst_loss_form_a = {0};
END
refused kind 'a.c:2: mst_loss_form_a has no enumerator in a block above it' << 'END'
/** a */
const mst_loss_form mst_loss_form_a = {0};
END
refused kind 'a.c:1: there is no `const mst_loss_form mst_loss_form_NAME = {` below the block' << 'END'
/** a */
#ifdef MST_LOSS_HEADER
enum { MST_LOSS_A = 0 };
#endif
END
refused kind 'a.c:6: a file defines one mst_loss_form' << 'END'
/** a */
#ifdef MST_LOSS_HEADER
enum { MST_LOSS_A = 0 };
#endif
const mst_loss_form mst_loss_form_a = {0};
const mst_loss_form mst_loss_form_b = {0};
END
refused kind 'a.c:1: no file of losses has number 0, and this has 1' << 'END'
/** a */
#ifdef MST_LOSS_HEADER
enum { MST_LOSS_A = 1 };
#endif
const mst_loss_form mst_loss_form_a = {0};
END

# loss NAME NUMBER: the file of a loss.
loss() {
    printf '/** %s */\n#ifdef MST_LOSS_HEADER\nenum { MST_LOSS_%s = %s };\n#endif\nconst mst_loss_form mst_loss_form_%s = {0};\n' \
        "$1" "$1" "$2" "$1"
}
loss A 0 > a.c
loss B 0 > b.c
if kind a.c b.c > made 2> said || ! grep -q 'b.c:3: MST_LOSS_B has number 0, which is that of a.c' said ||
    ! grep -q 'the next free number is 1' said; then
    error "one number given twice is not found"
fi

# ---- #line --------------------------------------------------------------------------------------------------------

# points_to PLACE: the compiler finds something wrong with what was made, and says that it is there.
points_to() {
    if ${CC:-cc} -std=c17 -fsyntax-only -x c made 2> said; then error "what was made of the file compiles"; fi
    grep -q "^$1:" said || { error "the compiler does not name $1 but:"; cat said; }
}
printf '/** a\n *\n */\n#ifdef MST_OP_HEADER\nint a(void);\nunknown b(void);\n#endif\n' > a.c
header a.c > made
points_to a.c:6
printf '/** a */\n#ifdef MST_LOSS_HEADER\nenum { MST_LOSS_A = 0 };\n_Static_assert(0, "");\n#endif\n%s\n' \
    'const mst_loss_form mst_loss_form_a = {0};' > a.c
kind a.c > made
points_to a.c:4
printf '\n\nconst mst_op mst_op_a = {0};\n' > a.c
{ echo 'extern int mst_op_a;' && table a.c; } > made
points_to a.c:3

exit $failed
