#!/usr/bin/env node
// Starts the program in the package for this platform, which npm installs as an optional dependency.
'use strict';

const { spawn } = require('node:child_process');
const { constants } = require('node:os');
const { isatty } = require('node:tty');
const { name, version, optionalDependencies } = require('./package.json');

/** Signals of keys, which a terminal sends to all its processes in the foreground, so also to the program. */
const KEY_SIGNALS = ['SIGINT', 'SIGQUIT'];

const HANDLED_SIGNALS = [...KEY_SIGNALS, 'SIGHUP', 'SIGTERM', ...(process.platform === 'win32' ? ['SIGBREAK'] : [])];

/** Signals that do not end node: it ignores the first, and starts its debugger at the second. */
const NOT_FATAL_TO_NODE = ['SIGPIPE', 'SIGUSR1'];

/** The exit codes of a shell for a program that is not there, and for one that cannot be started. */
const NOT_FOUND = 127;
const NOT_STARTED = 126;

/** Why the system refuses to start a program that is there. */
const REASONS = {
    EACCES: 'it may not be executed: its permissions or its file system forbid it',
    ENOENT: 'the loader or the C library that it needs is missing',
    ETXTBSY: 'it is being replaced; try again',
};

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
        return `npm has no package for ${process.platform} on ${process.arch}; build it from source: cargo install ${name}`;
    }
    return [
        `the package ${wanted} with the program is not installed.`,
        'It is an optional dependency: npm leaves it out with --omit=optional (or --no-optional, or `optional=false` in .npmrc),',
        'and a lock file made on another system may lack it. Install it again:',
        `    npm install --include=optional ${name}@${version}`,
        `or add it by name: npm install ${wanted}@${version}`,
    ].join('\n');
}

function fail(message, code) {
    process.stderr.write(`${name}: ${message}\n`);
    process.exit(code);
}

function failToStart(program, error) {
    fail(`cannot start ${program}: ${REASONS[error.code] ?? error.message}`, NOT_STARTED);
}

/** Returns the started program. Node throws some errors of a start, and emits others. */
function start(program) {
    try {
        // MCP needs the streams themselves, so the program inherits them.
        return spawn(program, process.argv.slice(2), { stdio: 'inherit', windowsHide: true });
    } catch (error) {
        return failToStart(program, error);
    }
}

/** Returns whether the program gets this signal without us. On Windows only a console sends signals. */
function reachesProgram(signal) {
    if (process.platform === 'win32') return true;
    return KEY_SIGNALS.includes(signal) && isatty(0);
}

/** Ends as the program has ended: with its exit code, or by the same signal. */
function endAs(code, signal) {
    if (!signal) process.exit(code);
    if (process.platform !== 'win32' && !NOT_FATAL_TO_NODE.includes(signal)) {
        process.removeAllListeners(signal);
        process.kill(process.pid, signal);
    }
    // A shell reports a program that a signal ended in the same way.
    process.exit(128 + constants.signals[signal]);
}

const packages = packageNames();
const program = findProgram(packages) ?? fail(missingProgramMessage(packages), NOT_FOUND);
let child;
// Handled before the start: a signal that ended only this process would leave the program behind.
for (const signal of HANDLED_SIGNALS) {
    process.on(signal, () => {
        if (!reachesProgram(signal)) child.kill(signal);
    });
}
child = start(program);
child.on('error', (error) => {
    // Later errors are those of a signal that could not be sent, while the program runs.
    if (child.pid === undefined) failToStart(program, error);
});
child.on('exit', endAs);
