# Writes a C file that defines `const TYPE *const mst_NAME_table[]`, ended by NULL, of every `const TYPE mst_NAME_...`
# that the files given define at the beginning of a line.
#   awk -v name=op -v type=mst_op -f cmake/table.awk FILES
BEGIN {
    print "/* Made by the build from the definitions in the files of src/: edit those. */"
    printf "typedef struct %s %s;\n", type, type
}
index($0, "const " type " mst_" name "_") == 1 && $NF == "{" {
    printf "extern const %s %s;\n", type, $3
    entries = entries "    &" $3 ",\n"
}
END { printf "extern const %s *const mst_%s_table[];\nconst %s *const mst_%s_table[] = {\n%s    0,\n};\n", type, name, type, name, entries }
