// Writes the files that name the checksums of a release: SHA256SUMS, server.json for the MCP
// registry, and the formula for Homebrew.
//
//     node packaging/release-files.mjs --files dist

import { createHash } from 'node:crypto';
import { readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import {
    BUNDLES,
    ROOT,
    TARGETS,
    archiveName,
    imageName,
    readOptions,
    readProject,
    registryName,
    releaseUrl,
} from './project.mjs';

const { files } = readOptions(['files']);
const project = readProject();
const released = readdirSync(files).filter((it) => /\.(tar\.gz|zip|mcpb|vsix)$/.test(it)).sort();
const checksums = new Map(released.map((it) => [it, sha256(join(files, it))]));
// A release without one of them must not be published.
for (const it of [...TARGETS.map(({ rust }) => archiveName(project, rust)), ...BUNDLES.map(bundleName)]) checksum(it);

writeFileSync(join(files, 'SHA256SUMS'), released.map((it) => `${checksums.get(it)}  ${it}\n`).join(''));
writeFileSync(join(files, 'server.json'), `${JSON.stringify(serverEntry(), undefined, 2)}\n`);
writeFileSync(join(files, 'palazzo.rb'), formula());

function bundleName({ name }) {
    return `${project.name}-v${project.version}-${name}.mcpb`;
}

function sha256(file) {
    return createHash('sha256').update(readFileSync(file)).digest('hex');
}

/** Returns the checksum of a file of the release, which must be there. */
function checksum(file) {
    const found = checksums.get(file);
    if (!found) throw new Error(`${file} is not in ${files}`);
    return found;
}

/** Returns the entry in the MCP registry. */
function serverEntry() {
    const { version, description, repository } = project;
    const common = { transport: { type: 'stdio' }, environmentVariables: [homeVariable()] };
    const serve = { packageArguments: [{ type: 'positional', value: 'serve' }] };
    const bundles = BUNDLES.map(bundleName).map((file) => ({
        registryType: 'mcpb',
        identifier: releaseUrl(project, file),
        version,
        fileSha256: checksum(file),
        transport: { type: 'stdio' },
    }));
    return {
        $schema: 'https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json',
        name: registryName(project),
        title: 'Palazzo',
        description,
        version,
        repository: { url: repository, source: 'github' },
        packages: [
            { registryType: 'npm', identifier: project.name, version, runtimeHint: 'npx', ...serve, ...common },
            { registryType: 'oci', identifier: `${imageName(project)}:${version}`, ...imageArguments() },
            ...bundles,
        ],
    };
}

function homeVariable() {
    return {
        name: 'PALAZZO_HOME',
        description: 'The folder of your palaces. It need not exist.',
        format: 'filepath',
        isRequired: false,
    };
}

/**
 * Returns how the image runs. By default the palaces are in a volume, because a folder on Linux
 * belongs to a user, and the image runs as another one.
 */
function imageArguments() {
    const home = { description: 'A volume, or a folder in which user 65532 may write', default: 'palazzo' };
    return {
        runtimeHint: 'docker',
        runtimeArguments: [
            { type: 'named', name: '--volume', value: '{home}:/palaces', variables: { home } },
        ],
        transport: { type: 'stdio' },
    };
}

/** Returns the formula for Homebrew, with the checksums of this release. */
function formula() {
    const template = readFileSync(join(ROOT, 'packaging/homebrew/palazzo.rb.in'), 'utf8');
    const values = { VERSION: project.version, REPOSITORY: project.repository };
    return template.replaceAll(/@(URL|SHA256|REPOSITORY|VERSION)(?::([\w-]+))?@/g, (_, key, rust) => {
        if (key === 'URL') return releaseUrl(project, archiveName(project, rust));
        if (key === 'SHA256') return checksum(archiveName(project, rust));
        return values[key];
    });
}
