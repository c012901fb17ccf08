# Of every `const TYPE TYPE_NAME = {` that the files given have at the beginning of a line, in their order:
#   awk -v type=mst_op -v make=table -f cmake/table.awk FILES
#                                       a C file that defines `const TYPE *const TYPE_table[]` of them, ended by NULL
#   awk ... -v make=list ...            a header that declares them
BEGIN { declarations = "typedef struct " type " " type ";\n" }
index($0, "const " type " " type "_") == 1 && /= \{/ {
    declarations = declarations "extern const " type " " $3 ";\n"
    entries = entries "    &" $3 ",\n"
}
END {
    print "/* Made by the build from the definitions in the files of src/: edit those. */"
    if (make == "list") {
        guard = toupper(type) "_LIST_H"
        printf "#ifndef %s\n#define %s\n\n%s\n#endif\n", guard, guard, declarations
        exit
    }
    printf "%sextern const %s *const %s_table[];\n", declarations, type, type
    printf "const %s *const %s_table[] = {\n%s    0,\n};\n", type, type, entries
}
