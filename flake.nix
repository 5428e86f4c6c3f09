{
  description = "Palazzo, a memory palace for language models";

  # Palazzo needs Rust 1.90 or newer.
  inputs.nixpkgs.url = "github:NixOS/nixpkgs/nixos-unstable";

  outputs = { self, nixpkgs }:
    let
      systems = [ "x86_64-linux" "aarch64-linux" "x86_64-darwin" "aarch64-darwin" ];
      forEachSystem = make: nixpkgs.lib.genAttrs systems (system: make nixpkgs.legacyPackages.${system});
    in
    {
      packages = forEachSystem (pkgs: rec {
        palazzo = pkgs.callPackage ./packaging/nix/package.nix { };
        default = palazzo;
      });
    };
}
