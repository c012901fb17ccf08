# Writes a C file that defines `const TYPE *const TYPE_table[]`, ended by NULL, of every `const TYPE TYPE_NAME = {` that the
# files given have at the beginning of a line, in their order.
#   awk -v type=mst_op -f cmake/table.awk FILES
BEGIN {
    print "/* Made by the build from the definitions in the files of src/: edit those. */"
    printf "typedef struct %s %s;\n", type, type
}
index($0, "const " type " " type "_") == 1 && /= \{/ {
    printf "extern const %s %s;\n", type, $3
    entries = entries "    &" $3 ",\n"
}
END { printf "extern const %s *const %s_table[];\nconst %s *const %s_table[] = {\n%s    0,\n};\n", type, type, type, type, entries }
