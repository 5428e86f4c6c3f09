// Writes version, repository and description of Cargo.toml into the manifests and pages that repeat
// them; `--check` changes nothing, and fails if one differs.
//
//     node packaging/manifests.mjs [--check]

import { readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { ROOT, imageName, readProject } from './project.mjs';

const project = readProject();
const { name, version, description, license, repository, owner, keywords } = project;

/** The command and addresses in pages that contain the owner of the repository. */
const REPOSITORY_MENTION =
    /(github\.com\/|github:|marketplace add |brew install |io\.github\.)[\w.-]+(?=\/palazzo\b)/g;
const IMAGE_MENTION = /ghcr\.io\/[\w.-]+\/palazzo\b/g;

const pluginKeys = {
    name,
    version,
    description,
    author: { name: owner },
    homepage: repository,
    repository,
    license,
    keywords,
};

/** The option of the plugin, which Claude Code asks for when the plugin is enabled. */
const keepConversations = {
    type: 'boolean',
    title: 'Keep conversations',
    description:
        'File the text of each conversation in your palace before it is shortened and when it ends. It is then in your git repository.',
    default: false,
};

const marketplace = {
    name,
    description: 'Palazzo, a memory palace for language models',
    owner: { name: owner },
    plugins: [{ name, source: './packaging/plugin', description, version, license, keywords, category: 'memory' }],
};

const files = new Map([
    ['.claude-plugin/marketplace.json', toJson(marketplace)],
    [
        'packaging/plugin/.claude-plugin/plugin.json',
        toJson({ ...pluginKeys, userConfig: { keep_conversations: keepConversations } }),
    ],
    [
        'packaging/plugin/plugin.json',
        toJson({ $schema: 'https://agent-plugins.org/schemas/1.0.0/plugin.schema.json', ...pluginKeys }),
    ],
    ['editors/vscode/package.json', withVersion('editors/vscode/package.json', 1)],
    ['editors/vscode/package-lock.json', withVersion('editors/vscode/package-lock.json', 2)],
]);
for (const page of ['README.md', 'CONTRIBUTING.md', 'packaging/plugin/README.md', ...pagesOf('docs')]) {
    const text = read(page).replaceAll(REPOSITORY_MENTION, (_, before) => `${before}${owner}`);
    files.set(page, text.replaceAll(IMAGE_MENTION, imageName(project)));
}

const different = [...files].filter(([file, text]) => read(file) !== text);
if (process.argv.includes('--check')) {
    for (const [file] of different) console.error(`${file} differs from Cargo.toml: run node packaging/manifests.mjs`);
    process.exitCode = different.length > 0 ? 1 : 0;
} else {
    for (const [file, text] of different) {
        writeFileSync(join(ROOT, file), text);
        console.log(file);
    }
}

function toJson(value) {
    return `${JSON.stringify(value, undefined, 2)}\n`;
}

/** Returns the text of a file, or undefined if there is none. */
function read(file) {
    try {
        return readFileSync(join(ROOT, file), 'utf8').replaceAll('\r\n', '\n');
    } catch (error) {
        if (error.code !== 'ENOENT') throw error;
        return undefined;
    }
}

/** Returns the text of a manifest with our version at its first `places`. */
function withVersion(file, places) {
    let left = places;
    return read(file).replaceAll(/"version": "[^"]*"/g, (old) => (left-- > 0 ? `"version": "${version}"` : old));
}

function pagesOf(folder) {
    return readdirSync(join(ROOT, folder)).filter((it) => it.endsWith('.md')).map((it) => `${folder}/${it}`);
}
