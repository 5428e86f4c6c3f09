# Builds Palazzo from this checkout.
{ lib, rustPlatform, installShellFiles }:

let
  manifest = builtins.fromTOML (builtins.readFile ../../Cargo.toml);
  # The package has the version and the repository of the workspace.
  cargo = manifest.package // manifest.workspace.package;
in
rustPlatform.buildRustPackage {
  pname = cargo.name;
  inherit (cargo) version;

  src = lib.cleanSource ../..;
  cargoLock.lockFile = ../../Cargo.lock;

  # The profile of a release.
  buildType = "dist";

  nativeBuildInputs = [ installShellFiles ];
  # The tests need git, node and a browser, and run in CI.
  doCheck = false;

  postInstall = ''
    for shell in bash fish zsh; do
      $out/bin/palazzo completions $shell > palazzo.$shell
      installShellCompletion --cmd palazzo --$shell palazzo.$shell
    done
    $out/bin/palazzo man man
    installManPage man/*.1
  '';

  meta = {
    inherit (cargo) description;
    homepage = cargo.repository;
    license = with lib.licenses; [ mit asl20 ];
    mainProgram = cargo.name;
  };
}
