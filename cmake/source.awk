# What header.awk, kind.awk and table.awk share, given to awk before them: it reads the files of a kind, and stops the
# build where it cannot. A file that declares something in public begins with its documentation, and the block follows
# at once:
#   /** huber: the mean of ... */
#   #ifdef MST_LOSS_HEADER
#   enum { MST_LOSS_HUBER = 5 };
#   #endif
# `part` is what the current line is: "doc", "open" (the #ifdef), "block", "close" (the #endif) or "code".
#   -v block=MST_LOSS_HEADER    the name of the block in these files; none: any
#   -v out=FILE                 the file that is made, for its #line
FNR == 1 { end_file(); file = FILENAME; part = /^\/\*\*/ ? "doc" : "code" }
FNR > 1 && part == "doc" && previous ~ /\*\// { part = /^#ifdef MST_[A-Z]+_HEADER$/ ? "open" : "code"; check_open() }
FNR > 1 && previous_part ~ /^(open|block)$/ { part = /^#endif/ ? "close" : "block" }
FNR > 1 && previous_part == "close" { part = "code" }
part == "block" && /^[ \t]*#[ \t]*(if|el|endif)/ {
    wrong("the block ends at its first #endif: there can be no condition in it")
}
part == "code" && /^[ \t]*#[ \t]*if.*[^A-Z]MST_[A-Z_]+_HEADER/ {
    wrong("the block stands once in a file, on the line after the comment that begins the file: move it there")
}
{ previous = $0; previous_part = part; last = FNR }

# The line after the comment: a condition there is the block, or a mistake in its name.
function check_open() {
    if (part == "open" ? block != "" && $2 != block : /^[ \t]*#[ \t]*if/)
        wrong("`" $0 "` where only `#ifdef " (block == "" ? "MST_..._HEADER" : block) "` can stand")
}

function end_file() {
    if (file != "" && previous_part ~ /^(open|block)$/) wrong_at(file, last, "the block has no #endif")
    if (file != "" && previous_part == "doc" && previous !~ /\*\//) wrong_at(file, last, "the comment has no end")
    previous_part = ""
}

function wrong_at(name, number, message) {
    printf "%s:%d: %s\n", name, number, message > "/dev/stderr"
    wrongs++
}

function wrong(message) { wrong_at(FILENAME, FNR, message) }

# The name that this line defines as `const TYPE TYPE_NAME = {`; none: "".
function defined(type,  rest) {
    if (index($0, "const " type) != 1) return ""
    rest = substr($0, length("const " type) + 1)
    if (rest !~ /^[ \t]+[A-Za-z_]/ && rest !~ /^[ \t]*$/) return "" # of another type, or a pointer
    if (index(rest, " " type "_") == 1 && $3 ~ /^[A-Za-z0-9_]+$/ && $4 == "=" && $5 ~ /^\{/) return $3
    wrong("a definition is `const " type " " type "_NAME = {`, all on one line")
    return ""
}

function emit(text) {
    print text
    lines += 1 + gsub(/\n/, "\n", text)
}

# What follows stands in line NUMBER of the file NAME, to compilers and debuggers.
function emit_line(number, name) { emit("#line " number " \"" name "\"") }

function emit_own_line() { emit_line(lines + 2, out) }

# To be called first in END; what was wrong stops the build.
function finish() {
    end_file()
    if (wrongs) exit 1
}
