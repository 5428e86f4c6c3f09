// Makes the npm packages from the archives of a release: one for each platform with the program in
// it, and `palazzo`, which starts it.
//
//     node packaging/npm.mjs --archives dist --out dist/npm [--only x86_64-unknown-linux-gnu]
//
// It fails if an archive is missing. `--only` makes one of the platforms, or with `launcher` none.

import { chmodSync, copyFileSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { extractProgram } from './extract.mjs';
import {
    ROOT,
    TARGETS,
    npmPackageName,
    programName,
    readOptions,
    readProject,
    registryName,
} from './project.mjs';

const { archives, out, only } = readOptions(['archives', 'out']);
const project = readProject();
rmSync(out, { recursive: true, force: true });
for (const target of TARGETS.filter((it) => !only || it.rust === only)) writePlatformPackage(target);
writeLauncherPackage();

/** Returns the keys that all packages have. */
function commonKeys() {
    const { version, license, repository } = project;
    return {
        version,
        license,
        homepage: repository,
        bugs: `${repository}/issues`,
        repository: { type: 'git', url: `git+${repository}.git` },
    };
}

function writePlatformPackage({ rust, npm }) {
    const name = npmPackageName(project, npm);
    const folder = join(out, name);
    mkdirSync(join(folder, 'bin'), { recursive: true });
    extractProgram(project, rust, archives, join(folder, 'bin', programName(project, rust)));
    const manifest = {
        name,
        description: `The program of the package ${project.name} for ${rust}.`,
        ...commonKeys(),
        os: [npm.os],
        cpu: [npm.cpu],
        ...(npm.libc && { libc: [npm.libc] }),
        files: ['bin', 'LICENSE-*'],
        // Yarn must unpack the program to run it.
        preferUnplugged: true,
    };
    writeFileSync(join(folder, 'README.md'), `# ${name}\n\n${manifest.description}\n`);
    writePackage(folder, manifest);
}

function writeLauncherPackage() {
    const folder = join(out, project.name);
    mkdirSync(folder, { recursive: true });
    for (const file of ['palazzo.js', 'README.md']) copyFileSync(join(ROOT, 'packaging/npm', file), join(folder, file));
    chmodSync(join(folder, 'palazzo.js'), 0o755);
    const names = TARGETS.map(({ npm }) => npmPackageName(project, npm));
    writePackage(folder, {
        name: project.name,
        description: project.description,
        ...commonKeys(),
        keywords: project.keywords,
        // The MCP registry compares this with its own entry.
        mcpName: registryName(project),
        bin: { [project.name]: 'palazzo.js' },
        files: ['palazzo.js', 'LICENSE-*'],
        engines: { node: '>=18' },
        optionalDependencies: Object.fromEntries(names.map((it) => [it, project.version])),
    });
}

function writePackage(folder, manifest) {
    for (const file of ['LICENSE-APACHE', 'LICENSE-MIT']) copyFileSync(join(ROOT, file), join(folder, file));
    writeFileSync(join(folder, 'package.json'), `${JSON.stringify(manifest, undefined, 2)}\n`);
    console.log(folder);
}
