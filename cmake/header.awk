# Collects what the files of a kind declare in public: from each that declares something, the first doc comment and the
# lines between "#ifdef MST_..._HEADER" and the next "#endif" at the start of a line.
#   awk -v name=ops -v include="muster/op.h muster/store.h" -f cmake/header.awk FILES
# prints muster/ops.h. With -v type=mst_dataset the header begins with that type, declared as a struct.
BEGIN {
    guard = "MUSTER_" toupper(name) "_H"
    print "/* Made by the build from the files of src/: edit those. */"
    printf "#ifndef %s\n#define %s\n\n", guard, guard
    count = split(include, header, " ")
    for (i = 1; i <= count; i++) printf "#include \"%s\"\n", header[i]
    if (count) print ""
    print "#ifdef __cplusplus\nextern \"C\" {\n#endif"
    if (type != "") printf "\ntypedef struct %s %s;\n", type, type
}
FNR == 1 { state = "before"; comment = "" }
state == "before" && /^\/\*\*/ { state = "comment" }
state == "comment" { comment = comment "\n" $0; if (/\*\//) state = "commented"; next }
state == "commented" && /^#ifdef MST_[A-Z]+_HEADER$/ { state = "header"; print comment; next }
state == "header" && /^#endif/ { state = "done"; next }
state == "header" { print }
END { print "\n#ifdef __cplusplus\n}\n#endif\n#endif" }
