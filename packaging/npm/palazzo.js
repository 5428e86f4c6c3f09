#!/usr/bin/env node
// Starts the program in the package for this platform, which npm installs as an optional dependency.
'use strict';

const { spawn } = require('node:child_process');
const { constants } = require('node:os');
const { name, version, optionalDependencies } = require('./package.json');

const FORWARDED_SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'];

/** Returns whether this Linux uses glibc. */
function hasGlibc() {
    process.report.excludeNetwork = true;
    return process.report.getReport().header.glibcVersionRuntime !== undefined;
}

/** Returns the packages whose program runs here, the best first. The one for musl is linked statically. */
function packageNames() {
    const base = `@${name}/${process.platform}-${process.arch}`;
    if (process.platform !== 'linux') return [base];
    return hasGlibc() ? [base, `${base}-musl`] : [`${base}-musl`];
}

/** Returns the path of the program, or undefined if no package with it is installed. */
function findProgram(packages) {
    const file = process.platform === 'win32' ? `${name}.exe` : name;
    for (const it of packages) {
        try {
            return require.resolve(`${it}/bin/${file}`);
        } catch (error) {
            if (error.code !== 'MODULE_NOT_FOUND') throw error;
        }
    }
    return undefined;
}

/** Explains why there is no program, and what to do. */
function missingProgramMessage(packages) {
    const wanted = packages.find((it) => it in optionalDependencies);
    if (!wanted) {
        return `${name}: npm has no package for ${process.platform} on ${process.arch}; build it from source: cargo install ${name}`;
    }
    return [
        `${name}: the package ${wanted} with the program is not installed.`,
        'It is an optional dependency: npm leaves it out with --omit=optional (or --no-optional, or `optional=false` in .npmrc),',
        'and a lock file made on another system may lack it. Install it again:',
        `    npm install --include=optional ${name}@${version}`,
        `or add it by name: npm install ${wanted}@${version}`,
    ].join('\n');
}

function fail(message) {
    process.stderr.write(`${message}\n`);
    process.exit(127);
}

const packages = packageNames();
const program = findProgram(packages) ?? fail(missingProgramMessage(packages));
// MCP needs the streams themselves, so the program inherits them.
const child = spawn(program, process.argv.slice(2), { stdio: 'inherit', windowsHide: true });
for (const signal of FORWARDED_SIGNALS) process.on(signal, () => child.kill(signal));
child.on('error', (error) => fail(`${name}: cannot start ${program}: ${error.message}`));
child.on('exit', (code, signal) => {
    // A shell reports a program that a signal ended as 128 and the number of the signal.
    process.exit(signal ? 128 + constants.signals[signal] : code);
});
