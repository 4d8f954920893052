# For a tap of Homebrew; .ci/release fills in the version and the checksums.
class Tracemend < Formula
  desc "Checks and repairs recordings of perf, apitrace, ovni, QEMU and revent"
  homepage "@repository@"
  version "@version@"
  license any_of: ["MIT", "Apache-2.0"]

  files = {
    "aarch64-apple-darwin" => "@sha256:tracemend-@version@-aarch64-apple-darwin.tar.gz@",
    "x86_64-apple-darwin" => "@sha256:tracemend-@version@-x86_64-apple-darwin.tar.gz@",
    "aarch64-unknown-linux-gnu" => "@sha256:tracemend-@version@-aarch64-unknown-linux-gnu.tar.gz@",
    "x86_64-unknown-linux-gnu" => "@sha256:tracemend-@version@-x86_64-unknown-linux-gnu.tar.gz@",
  }
  machine = Hardware::CPU.arm? ? "aarch64" : "x86_64"
  target = "#{machine}-#{OS.mac? ? "apple-darwin" : "unknown-linux-gnu"}"
  url "@repository@/releases/download/v@version@/tracemend-@version@-#{target}.tar.gz"
  sha256 files.fetch(target)

  def install
    bin.install "tracemend"
    man1.install Dir["man/man1/*.1"]
    bash_completion.install "completions/tracemend.bash" => "tracemend"
    zsh_completion.install "completions/_tracemend"
    fish_completion.install "completions/tracemend.fish"
  end

  test do
    system bin/"tracemend", "self-test"
  end
end
