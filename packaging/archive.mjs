// Packs a program as the archive of a release.
//
//     node packaging/archive.mjs --program target/dist/palazzo --target x86_64-unknown-linux-gnu --out dist

import { execFileSync } from 'node:child_process';
import { chmodSync, copyFileSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

import { ROOT, archiveFolder, archiveName, programName, readOptions, readProject } from './project.mjs';

const { program, target, out } = readOptions(['program', 'target', 'out']);
const project = readProject();
const scratch = mkdtempSync(join(tmpdir(), 'palazzo-archive-'));
const folder = join(scratch, archiveFolder(project, target));
mkdirSync(folder);
copyFileSync(program, join(folder, programName(project, target)));
chmodSync(join(folder, programName(project, target)), 0o755);
for (const file of ['README.md', 'CHANGELOG.md', 'LICENSE-APACHE', 'LICENSE-MIT']) {
    copyFileSync(join(ROOT, file), join(folder, file));
}
mkdirSync(out, { recursive: true });
const archive = resolve(out, archiveName(project, target));
// The tar of Windows also writes zip files; the one that Git brings along does not.
const tar = process.platform === 'win32' ? join(process.env.SystemRoot, 'System32', 'tar.exe') : 'tar';
const format = archive.endsWith('.zip') ? ['-a', '-c', '-f'] : ['-c', '-z', '-f'];
execFileSync(tar, [...format, archive, '-C', scratch, archiveFolder(project, target)], { stdio: 'inherit' });
rmSync(scratch, { recursive: true });
console.log(archive);
