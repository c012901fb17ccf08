# Writes a public header of what the files of a folder declare: from each that declares something, the first doc comment
# and the lines between "#ifdef GUARD" and the next "#endif" at the start of a line.
#   awk -v header=ops -v guard=MST_OP_HEADER -v includes="muster/op.h muster/store.h" -v folder=src/op \
#       -f cmake/declarations.awk FILES
BEGIN {
    print "/* Made by the build from the files of " folder "/: edit those. */"
    print "#ifndef MUSTER_" toupper(header) "_H\n#define MUSTER_" toupper(header) "_H\n"
    count = split(includes, include, " ")
    for (i = 1; i <= count; i++) print "#include \"" include[i] "\""
    print "\n#ifdef __cplusplus\nextern \"C\" {\n#endif"
}
FNR == 1 { state = 0; comment = "" }
state == 0 && /^\/\*\*/ { state = 1 }
state == 1 { comment = comment "\n" $0; if (/\*\//) state = 2; next }
state == 2 && /^#ifdef / && $2 == guard { state = 3; print comment; next }
state == 3 && /^#endif/ { state = 4; next }
state == 3 { print }
END { print "\n#ifdef __cplusplus\n}\n#endif\n#endif" }
