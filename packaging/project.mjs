// What every package takes from Cargo.toml and targets.json, and how release files are named.

import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The root of the repository. */
export const ROOT = join(dirname(fileURLToPath(import.meta.url)), '..');

/** The targets of a release. */
export const TARGETS = JSON.parse(readFileSync(join(ROOT, 'packaging/targets.json'), 'utf8'));

/** The platforms of the bundles for Claude Desktop, each with the target whose program it contains. */
export const BUNDLES = [
    { name: 'linux', platform: 'linux', rust: 'x86_64-unknown-linux-musl' },
    { name: 'macos', platform: 'darwin', rust: 'universal-apple-darwin' },
    { name: 'windows', platform: 'win32', rust: 'x86_64-pc-windows-msvc' },
];

/**
 * Returns name, version, description, licence and repository. Cargo.toml is the only place where the
 * repository and the version are written by hand.
 */
export function readProject() {
    const output = execFileSync(
        'cargo',
        ['metadata', '--no-deps', '--offline', '--format-version', '1', '--manifest-path', join(ROOT, 'Cargo.toml')],
        { encoding: 'utf8', maxBuffer: 1 << 26 },
    );
    const { name, version, description, license, repository, keywords } =
        JSON.parse(output).packages.find((it) => it.name === 'palazzo');
    const match = /^https:\/\/github\.com\/([^/]+)\/([^/]+)$/.exec(repository ?? '');
    if (!match) throw new Error(`\`repository\` in Cargo.toml is no repository on GitHub: ${repository}`);
    return { name, version, description, license, repository, keywords, owner: match[1], slug: `${match[1]}/${match[2]}` };
}

/** Returns the name of the archive of a target, which `[package.metadata.binstall]` repeats. */
export function archiveName(project, rust) {
    return `${archiveFolder(project, rust)}.${rust.includes('windows') ? 'zip' : 'tar.gz'}`;
}

/** Returns the name of the only folder in the archive of a target. */
export function archiveFolder(project, rust) {
    return `${project.name}-v${project.version}-${rust}`;
}

/** Returns the name of the program on a target. */
export function programName(project, rust) {
    return rust.includes('windows') ? `${project.name}.exe` : project.name;
}

/** Returns the address of a file of the release. */
export function releaseUrl(project, file) {
    return `${project.repository}/releases/download/v${project.version}/${file}`;
}

/** Returns the name of the server in the MCP registry. */
export function registryName(project) {
    return `io.github.${project.slug}`;
}

/** Returns the image in the container registry, which takes lower case only. */
export function imageName(project) {
    return `ghcr.io/${project.slug.toLowerCase()}`;
}

/** Returns the name of the npm package with the program of a target. */
export function npmPackageName(project, { os, cpu, libc }) {
    return `@${project.name}/${os}-${cpu}${libc === 'musl' ? '-musl' : ''}`;
}

/** Returns the values of options like `--out DIR`; each of `names` is required. */
export function readOptions(names) {
    const options = {};
    const words = process.argv.slice(2);
    for (let at = 0; at < words.length; at += 2) options[words[at].replace(/^--/, '')] = words[at + 1];
    const missing = names.filter((it) => !options[it]);
    if (missing.length > 0) throw new Error(`missing: ${missing.map((it) => `--${it}`).join(', ')}`);
    return options;
}
