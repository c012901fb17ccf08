# A kind of thing that users choose by an enumerator: losses, metrics, schedules and so on. Each has a file with, in this
# order,
#   its doc comment, the first of the file;
#   between "#ifdef MST_KIND_HEADER" and "#endif": its enumerator, `enum { MST_LOSS_HUBER = 5 };`, and its macros, if any;
#   its definition, `const mst_loss_form mst_loss_form_huber = ...`. What follows the type's name is the thing's name.
# The number is part of the interface: programs are compiled with it. So it stands in the file, and never changes.
#   awk -v kind=loss -v plural=losses -v enum=mst_loss -v make=header -f cmake/kind.awk FILES
#                                       the public header: the enum, with MST_NUM_LOSSES as its end, and the macros
#   awk ... -v make=table -v include=loss/loss.h ...
#                                       mst_loss_table and mst_loss_names, by number; the names are ended by NULL
BEGIN { type = "mst_" kind "_form"; end = "MST_NUM_" toupper(plural); most = -1 }

FNR == 1 { state = "before"; comment = "" }
state == "before" && /^\/\*\*/ { state = "comment" }
state == "comment" { comment = comment ($0 == "" ? "" : "    ") $0 "\n"; if (/\*\//) state = "commented"; next }
state == "commented" && /^#ifdef MST_[A-Z]+_HEADER$/ { state = "header"; next }
state == "header" && /^#endif/ { state = "done"; next }
state == "header" && /^enum \{ MST_[A-Z0-9_]+ = [0-9]+ };$/ {
    number = $5 + 0
    if (number in file) clash = clash FILENAME ": " $3 " has number " number ", which is that of " file[number] "\n"
    file[number] = FILENAME
    enumerators[number] = comment "    " $3 " = " number ",\n"
    if (number > most) most = number
    next
}
state == "header" { macros = macros $0 "\n" }
state == "done" && index($0, "const " type " " type "_") == 1 { form[number] = $3 }

function fail(message) {
    printf "%s", message > "/dev/stderr"
    exit 1
}

function print_header(  i, guard) {
    guard = "MUSTER_" toupper(plural) "_H"
    printf "#ifndef %s\n#define %s\n\ntypedef enum %s {\n", guard, guard, enum
    for (i = 0; i <= most; i++) printf "%s", enumerators[i]
    printf "    %s = %d\n} %s;\n\n%s%s#endif\n", end, most + 1, enum, macros, macros == "" ? "" : "\n"
}

function print_table(  i) {
    printf "#include \"%s\"\n\n", include
    for (i = 0; i <= most; i++) printf "extern const %s %s;\n", type, form[i]
    printf "\nconst %s *const mst_%s_table[] = {\n", type, kind
    for (i = 0; i <= most; i++) printf "    &%s,\n", form[i]
    printf "};\nconst char *const mst_%s_names[] = {\n", kind
    for (i = 0; i <= most; i++) printf "    \"%s\",\n", substr(form[i], length(type) + 2)
    print "    0,\n};"
}

END {
    if (clash != "") fail(clash "the next free number is " most + 1 "\n")
    for (i = 0; i <= most; i++) {
        if (!(i in file)) fail("no file of " plural " has number " i ", and there is a " most ": numbers leave no gap\n")
        if (!(i in form)) fail(file[i] ": there is no `const " type " " type "_NAME` at the beginning of a line\n")
    }
    print "/* Made by the build from the files of src/: edit those. */"
    if (make == "header") print_header()
    else print_table()
}
