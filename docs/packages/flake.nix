# `nix run` with the released program; .ci/release fills in the version and the checksums.
{
  description = "Checks and repairs recordings of perf, apitrace, ovni, QEMU and revent";
  inputs.nixpkgs.url = "nixpkgs";
  outputs = { self, nixpkgs }:
    let
      version = "@version@";
      sums = {
        x86_64-linux = "@sha256:tracemend-@version@-x86_64-unknown-linux-gnu.tar.gz@";
        aarch64-linux = "@sha256:tracemend-@version@-aarch64-unknown-linux-gnu.tar.gz@";
      };
      package = system:
        let
          pkgs = nixpkgs.legacyPackages.${system};
          target = builtins.replaceStrings [ "linux" ] [ "unknown-linux-gnu" ] system;
        in
        pkgs.stdenvNoCC.mkDerivation {
          pname = "tracemend";
          inherit version;
          src = pkgs.fetchurl {
            url = "@repository@/releases/download/v${version}/"
              + "tracemend-${version}-${target}.tar.gz";
            sha256 = sums.${system};
          };
          nativeBuildInputs = [ pkgs.installShellFiles ];
          installPhase = ''
            install -Dm755 tracemend -t $out/bin
            installManPage man/man1/*.1
            installShellCompletion completions/tracemend.bash completions/tracemend.fish
            installShellCompletion --zsh completions/_tracemend
          '';
          meta.mainProgram = "tracemend";
        };
    in
    {
      packages = builtins.mapAttrs (system: _: { default = package system; }) sums;
    };
}
