# A kind of thing that users choose by an enumerator: losses, metrics, schedules and so on. Each has a file with its
# documentation, its block (source.awk) and its definition:
#   /** huber: the mean of ... */
#   #ifdef MST_LOSS_HEADER
#   enum { MST_LOSS_HUBER = 5 };         then its macros, if any
#   #endif
#   const mst_loss_form mst_loss_form_huber = {...
# What follows the type's name is the thing's name. The number is part of the interface: programs are compiled with it.
# So it stands in the file, and never changes.
#   awk -v kind=loss -v plural=losses -v enum=mst_loss -v make=header -f source.awk -f kind.awk FILES
#                                       the public header: the enum, with MST_NUM_LOSSES as its end, and the macros
#   awk ... -v make=table -v include=loss/loss.h ...
#                                       mst_loss_table and mst_loss_names, by number; the names are ended by NULL
BEGIN { type = "mst_" kind "_form"; end = "MST_NUM_" toupper(plural); most = -1 }

FNR == 1 { doc = ""; number = -1 }
part == "doc" { doc = doc ($0 == "" ? "" : "    ") $0 "\n" }
part == "open" { opened = FNR }
part == "block" && /^[ \t]*enum([ \t]|$)/ {
    if ($0 !~ /^enum \{ MST_[A-Z0-9_]+ = [0-9]+ };$/) wrong("an enumerator is written `enum { MST_NAME = NUMBER };`")
    else if (number >= 0) wrong("a file has one enumerator")
    else add_enumerator()
    next
}
part == "block" {
    if (macro_end != FILENAME ":" (FNR - 1)) macros = macros "#line " FNR " \"" FILENAME "\"\n"
    macros = macros $0 "\n"
    macro_end = FILENAME ":" FNR
}
part == "close" && number < 0 { wrong("the block has no enumerator `enum { MST_NAME = NUMBER };`") }
{ name = defined(type) }
name != "" && number < 0 { wrong(name " has no enumerator in a block above it") }
name != "" && number >= 0 {
    if (number in form) wrong("a file defines one " type)
    form[number] = name
    form_line[number] = FNR
}

function add_enumerator() {
    number = $5 + 0
    if (number in from) {
        wrong($3 " has number " number ", which is that of " from[number])
        clashes++
    }
    from[number] = FILENAME
    enumerator[number] = "#line 1 \"" FILENAME "\"\n" doc "#line " FNR " \"" FILENAME "\"\n    " $3 " = " number ","
    if (number > most) most = number
}

function print_header(  i, guard) {
    guard = "MUSTER_" toupper(plural) "_H"
    emit("#ifndef " guard "\n#define " guard "\n\n#pragma GCC system_header /* see muster/named.h */\n\ntypedef enum " enum " {")
    for (i = 0; i <= most; i++) emit(enumerator[i])
    emit_own_line()
    emit("    " end " = " most + 1 "\n} " enum ";\n")
    if (macros != "") emit(macros)
    emit("#endif")
}

function print_table(  i) {
    emit("#include \"" include "\"\n")
    for (i = 0; i <= most; i++) {
        emit_line(form_line[i], from[i])
        emit("extern const " type " " form[i] ";")
    }
    emit_own_line()
    emit("\nconst " type " *const mst_" kind "_table[] = {")
    for (i = 0; i <= most; i++) emit("    &" form[i] ",")
    emit("};\nconst char *const mst_" kind "_names[] = {")
    for (i = 0; i <= most; i++) emit("    \"" substr(form[i], length(type) + 2) "\",")
    emit("    0,\n};")
}

# Numbers leave no gap, and none is given twice.
function check_numbers(  i) {
    if (clashes) printf "the next free number is %d\n", most + 1 > "/dev/stderr"
    for (i = 0; i <= most && !wrongs; i++) {
        if (!(i in from)) wrong_at(from[most], 1, "no file of " plural " has number " i ", and this has " most)
        else if (!(i in form)) wrong_at(from[i], 1, "there is no `const " type " " type "_NAME = {` below the block")
    }
}

END {
    check_numbers()
    finish()
    emit("/* Made by the build from the files of src/: edit those. */")
    if (make == "header") print_header()
    else print_table()
}
