// Carries out the last stage of the Dockerfile without a container engine: copies its files into a
// folder, and prints the command that runs the image in it as its user. Needs root.
//
//     node packaging/container/root-folder.mjs --program FOLDER --architecture amd64 --out ROOT
//
// FOLDER stands for the stage `program`: layout.sh has made its folder `out`. A program that is not linked statically gets its libraries,
// so that tests can use one that was built for them.

import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync, readdirSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';

import { ROOT, readOptions } from '../project.mjs';

const { program, architecture, out } = readOptions(['program', 'architecture', 'out']);
const image = { env: {}, user: '0:0', directory: '/', entrypoint: [], command: [] };
const steps = {
    ARG() {},
    VOLUME() {},
    COPY: copy,
    ENV(words) {
        for (const [, key, value] of words.matchAll(/(\w+)=(\S+)/g)) image.env[key] = value;
    },
    USER: (words) => (image.user = words),
    WORKDIR: (words) => (image.directory = words),
    ENTRYPOINT: (words) => (image.entrypoint = JSON.parse(words)),
    CMD: (words) => (image.command = JSON.parse(words)),
};

mkdirSync(out, { recursive: true });
for (const { instruction, words } of lastStage()) {
    if (!steps[instruction]) throw new Error(`the Dockerfile has a step that is not known here: ${instruction} ${words}`);
    steps[instruction](words);
}
copyLibraries(join(out, image.entrypoint[0]));
console.log(JSON.stringify(runCommand()));

/** Yields the steps of the last stage, which must begin with nothing. */
function lastStage() {
    const text = readFileSync(join(ROOT, 'packaging/container/Dockerfile'), 'utf8').replaceAll('\\\n', ' ');
    const lines = text.split('\n').filter((it) => it !== '' && !it.startsWith('#'));
    const instructions = lines.map((it) => {
        const [instruction, ...words] = it.split(/\s+/);
        return { instruction, words: words.join(' ').replaceAll('${TARGETARCH}', architecture) };
    });
    const start = instructions.findLastIndex((it) => it.instruction === 'FROM');
    if (instructions[start].words !== 'scratch') throw new Error('the image does not begin with nothing');
    return instructions.slice(start + 1);
}

function copy(words) {
    const match = /^--from=program(?: --chown=(\S+))? (\/\S+) (\S+)$/.exec(words);
    if (!match) throw new Error(`the Dockerfile copies in a way that is not known here: ${words}`);
    const [, owner, from, to] = match;
    const [source, target] = [join(program, from), join(out, to)];
    mkdirSync(dirname(target), { recursive: true });
    // `cp` keeps the modes of folders, which the function of node does not.
    execFileSync('cp', ['-R', '-p', statSync(source).isDirectory() ? `${source}/.` : source, target]);
    if (owner) execFileSync('chown', ['-R', owner, ...readdirSync(source).map((it) => join(target, it))]);
}

/** Copies the libraries that a program loads when it starts. */
function copyLibraries(file) {
    const list = execFileSync('sh', ['-c', 'ldd "$0" 2>/dev/null || true', file], { encoding: 'utf8' });
    for (const [, library] of list.matchAll(/(\/\S+) \(0x/g)) {
        mkdirSync(join(out, dirname(library)), { recursive: true });
        cpSync(library, join(out, library), { dereference: true });
    }
}

/** Returns the command that runs the image: in its folder, as its user, with its variables only. */
function runCommand() {
    const variables = Object.entries(image.env).map(([key, value]) => `${key}=${value}`);
    const chroot = ['chroot', `--userspec=${image.user}`, out];
    const outside = ['env', '-i', 'PATH=/usr/sbin:/usr/bin:/sbin:/bin', ...variables];
    return [...outside, ...chroot, ...image.entrypoint, ...image.command];
}
