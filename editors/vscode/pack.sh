#!/usr/bin/env bash
# Packs the extension as target/tmp/vscode/palazzo.vsix, and checks what is in it.
set -euo pipefail
cd "$(dirname "$0")/../.."

mkdir -p target/tmp/vscode
cp -R editors/vscode/{src,package.json,package-lock.json,tsconfig.json,.vscodeignore,README.md,LICENSE} target/tmp/vscode
cd target/tmp/vscode
if ! cmp -s package-lock.json node_modules/.palazzo-lock; then
    npm ci --ignore-scripts --no-audit --no-fund --silent
    cp package-lock.json node_modules/.palazzo-lock
fi
npm run --silent check
npm run --silent package -- --allow-missing-repository --out palazzo.vsix

files=$(python3 -m zipfile -l palazzo.vsix)
for file in extension/package.json extension/dist/extension.js extension/readme.md extension/LICENSE.txt; do
    grep -q "^$file " <<<"$files" || { echo "palazzo.vsix has no $file" >&2; exit 1; }
done
if grep -q node_modules <<<"$files"; then
    echo "palazzo.vsix contains node_modules" >&2
    exit 1
fi
