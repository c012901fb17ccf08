# Collects what the files of a kind declare in public: from each that has a block (source.awk) its documentation and the
# lines of the block.
#   awk -v name=ops -v include="muster/op.h muster/store.h" -v block=MST_OP_HEADER -f source.awk -f header.awk FILES
# prints muster/ops.h. With -v type=mst_dataset the header begins with that type, declared as a struct.
BEGIN {
    guard = "MUSTER_" toupper(name) "_H"
    emit("/* Made by the build from the files of src/: edit those. */")
    emit("#ifndef " guard "\n#define " guard "\n")
    emit("#pragma GCC system_header /* see muster/named.h */\n")
    count = split(include, header, " ")
    for (i = 1; i <= count; i++) emit("#include \"" header[i] "\"")
    if (count) emit("")
    emit("#ifdef __cplusplus\nextern \"C\" {\n#endif")
    if (type != "") emit("\ntypedef struct " type " " type ";")
}
FNR == 1 { doc = "" }
part == "doc" { doc = doc (doc == "" ? "" : "\n") $0 }
part == "open" {
    emit("")
    emit_line(1, FILENAME)
    emit(doc)
    emit_line(FNR + 1, FILENAME)
}
part == "block" { emit($0) }
END {
    finish()
    emit("")
    emit_own_line()
    emit("#ifdef __cplusplus\n}\n#endif\n#endif")
}
