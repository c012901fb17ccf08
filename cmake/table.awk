# Of every `const TYPE TYPE_NAME = {` that the files given have at the beginning of a line, in their order:
#   awk -v type=mst_op -v make=table -f source.awk -f table.awk FILES
#                                       a C file that defines `const TYPE *const TYPE_table[]` of them, ended by NULL
#   awk ... -v make=list ...            a header that declares them
BEGIN {
    guard = toupper(type) "_LIST_H"
    emit("/* Made by the build from the definitions in the files of src/: edit those. */")
    if (make == "list") emit("#ifndef " guard "\n#define " guard "\n")
    emit("typedef struct " type " " type ";")
}
{ name = defined(type) }
# A list has no #line: a file that grows would change it, and with it all that include it.
name != "" {
    if (make == "table") emit_line(FNR, FILENAME)
    emit("extern const " type " " name ";")
    entries = entries "    &" name ",\n"
}
END {
    finish()
    if (make == "list") {
        emit("\n#endif")
        exit
    }
    emit_own_line()
    emit("extern const " type " *const " type "_table[];")
    emit("const " type " *const " type "_table[] = {\n" entries "    0,\n};")
}
