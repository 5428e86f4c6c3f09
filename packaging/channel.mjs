// Prints the channel of a release, which is also its tag on npm: `latest` for the newest version,
// `next` for a pre-release, and `previous` for a version that is older than one released before.
//
//     node packaging/channel.mjs --tag v0.1.0
//
// It compares the tag with the tags of the repository in the current folder.

import { execFileSync } from 'node:child_process';

import { readOptions } from './project.mjs';

const { tag } = readOptions(['tag']);
const released = execFileSync('git', ['tag', '--list', 'v*'], { encoding: 'utf8' }).split('\n');
console.log(channel(tag, released));

function channel(tag, others) {
    const version = stableVersion(tag);
    if (!version) return 'next';
    const versions = others.map(stableVersion).filter((it) => it !== undefined);
    return versions.some((it) => compare(it, version) > 0) ? 'previous' : 'latest';
}

/** Returns the three numbers of a tag, or undefined for a pre-release and for any other tag. */
function stableVersion(tag) {
    return /^v(\d+)\.(\d+)\.(\d+)$/.exec(tag)?.slice(1).map(Number);
}

function compare(left, right) {
    const at = left.findIndex((it, index) => it !== right[index]);
    return at < 0 ? 0 : left[at] - right[at];
}
