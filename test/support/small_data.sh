# Sourced by tests of the command: write_data FOLDER [ROWS TESTED SIDE] makes ROWS images for training and TESTED others of
# SIDE x SIDE pixels (430, 50 and 8), whose label says which row is bright.
# shellcheck shell=sh
# word() makes its format
# shellcheck disable=SC2059

# two bytes of a big-endian number below 65536
word() { printf "\\$(printf %03o $(($1 / 256)))\\$(printf %03o $(($1 % 256)))"; }

write_images() {
    {
        printf '\000\000\010\003\000\000' && word "$2"
        printf '\000\000' && word "$3" && printf '\000\000' && word "$3"
    } > "$1"
    awk -v n="$2" -v side="$3" 'BEGIN {
        for (i = 0; i < n; i++) for (p = 0; p < side * side; p++)
            printf "%c", (int(p / side) == i % 8 ? 100 : 1) + (i * 7 + p * 3) % 11
    }' >> "$1"
}

# not every awk writes a byte 0: labels are letters, then translated
write_labels() {
    { printf '\000\000\010\001\000\000' && word "$2"; } > "$1"
    awk -v n="$2" 'BEGIN { for (i = 0; i < n; i++) printf "%c", 65 + i % 8 }' |
        tr ABCDEFGH '\000\001\002\003\004\005\006\007' >> "$1"
}

write_data() {
    mkdir -p "$1"
    write_images "$1/train-images-idx3-ubyte" "${2:-430}" "${4:-8}"
    write_labels "$1/train-labels-idx1-ubyte" "${2:-430}"
    write_images "$1/t10k-images-idx3-ubyte" "${3:-50}" "${4:-8}"
    write_labels "$1/t10k-labels-idx1-ubyte" "${3:-50}"
}
