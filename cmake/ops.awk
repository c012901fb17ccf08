# Collects what op files declare in public: from each that declares something, the first doc comment and the lines between
# "#ifdef MST_OP_HEADER" and the next "#endif" at the start of a line.
BEGIN {
    print "/* Made by the build from the files of src/op/: edit those. */"
    print "#ifndef MUSTER_OPS_H\n#define MUSTER_OPS_H\n\n#include \"muster/op.h\"\n#include \"muster/store.h\"\n"
    print "#ifdef __cplusplus\nextern \"C\" {\n#endif"
}
FNR == 1 { state = 0; comment = "" }
state == 0 && /^\/\*\*/ { state = 1 }
state == 1 { comment = comment "\n" $0; if (/\*\//) state = 2; next }
state == 2 && /^#ifdef MST_OP_HEADER/ { state = 3; print comment; next }
state == 3 && /^#endif/ { state = 4; next }
state == 3 { print }
END { print "\n#ifdef __cplusplus\n}\n#endif\n#endif" }
