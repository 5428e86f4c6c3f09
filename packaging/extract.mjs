// Reads programs from the archives of a release.

import { execFileSync } from 'node:child_process';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { archiveFolder, archiveName, programName } from './project.mjs';

/** Returns whether the archive of a target is in `archives`. */
export function hasArchive(project, rust, archives) {
    return existsSync(join(archives, archiveName(project, rust)));
}

/** Writes the program of a target to `file`. */
export function extractProgram(project, rust, archives, file) {
    const archive = join(archives, archiveName(project, rust));
    const member = `${archiveFolder(project, rust)}/${programName(project, rust)}`;
    const [command, words] = archive.endsWith('.zip')
        ? ['unzip', ['-p', archive, member]]
        : ['tar', ['-x', '-O', '-z', '-f', archive, member]];
    writeFileSync(file, execFileSync(command, words, { maxBuffer: 1 << 30 }), { mode: 0o755 });
}
