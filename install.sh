#!/bin/sh
# Downloads tracemend for this machine, compares the SHA-256 of the archive, and installs the
# program, its manual pages and its completions:
#
#   sh install.sh [FOLDER]           # default: ~/.local; the program goes to FOLDER/bin
#
# In the file of a release, the version and the checksums are filled in. In a checkout the version
# is that of Cargo.toml, and the checksums are downloaded with the archive; TRACEMEND_SHA256 names
# the one to expect instead. TRACEMEND_RELEASES is the address of another place with the releases.
#
# Exits with 0 if the program is installed, 1 if a file is not what it must be, and 69 if there is
# nothing to download for this machine.
set -eu
version=
sums=
repository=https://github.com/tracemend/tracemend

fail() { echo "install.sh: $2" >&2 && exit "$1"; }
has() { command -v "$1" >/dev/null 2>&1; }

source=$(dirname "$0")/Cargo.toml
if [ -z "$version" ]; then
    [ -e "$source" ] || fail 1 "the version is unknown: use the install.sh of a release"
    version=$(sed -n 's/^version = "\(.*\)"$/\1/p' "$source")
fi
case $(uname -s)-$(uname -m) in
Linux-x86_64) target=x86_64-unknown-linux-gnu ;;
Linux-aarch64) target=aarch64-unknown-linux-gnu ;;
Darwin-x86_64) target=x86_64-apple-darwin ;;
Darwin-arm64) target=aarch64-apple-darwin ;;
*) fail 69 "there is no release for $(uname -s) on $(uname -m)" ;;
esac
name=tracemend-$version-$target
from=${TRACEMEND_RELEASES:-$repository/releases/download}/v$version
to=${1:-$HOME/.local}

# Downloads $1 to $2. The usual place is reached by HTTPS only, and so is where it redirects to.
download() {
    if has curl; then
        curl --fail --silent --show-error --location --proto-redir =https --retry 3 "$1" -o "$2"
    elif has wget; then
        wget -q "$1" -O "$2"
    else
        fail 69 "curl and wget are missing"
    fi
}
sum_of() {
    if has sha256sum; then sha256sum "$1"; else shasum -a 256 "$1"; fi | cut -d ' ' -f 1
}

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
download "$from/$name.tar.gz" "$folder/archive" || fail 69 "cannot download $from/$name.tar.gz"
expected=${TRACEMEND_SHA256:-}
if [ -z "$expected" ]; then
    if [ -z "$sums" ]; then
        download "$from/SHA256SUMS" "$folder/sums" || fail 1 "cannot download $from/SHA256SUMS"
        sums=$(cat "$folder/sums")
    fi
    expected=$(printf '%s\n' "$sums" | sed -n "s/^\([0-9a-f]*\)  $name\.tar\.gz\$/\1/p")
fi
[ -n "$expected" ] || fail 1 "the checksum of $name.tar.gz is not listed"
found=$(sum_of "$folder/archive")
[ "$found" = "$expected" ] ||
    fail 1 "SHA-256 of $name.tar.gz is $found, expected $expected; nothing is installed"

tar -xzf "$folder/archive" -C "$folder"
mkdir -p "$to/bin" "$to/share/man/man1" "$to/share/bash-completion/completions" \
    "$to/share/zsh/site-functions" "$to/share/fish/vendor_completions.d" "$to/share/doc/tracemend"
unpacked=$folder/$name
# A program that runs is not overwritten, but replaced.
cp "$unpacked/tracemend" "$to/bin/.tracemend.new"
mv -f "$to/bin/.tracemend.new" "$to/bin/tracemend"
cp "$unpacked"/man/man1/*.1 "$to/share/man/man1"
cp "$unpacked/completions/tracemend.bash" "$to/share/bash-completion/completions/tracemend"
cp "$unpacked/completions/_tracemend" "$to/share/zsh/site-functions"
cp "$unpacked/completions/tracemend.fish" "$to/share/fish/vendor_completions.d"
cp "$unpacked"/*.md "$unpacked"/LICEN* "$to/share/doc/tracemend"
"$to/bin/tracemend" --version
case :$PATH: in *:"$to/bin":*) ;; *) echo "add $to/bin to PATH" ;; esac
