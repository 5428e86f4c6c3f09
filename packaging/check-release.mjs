// Fails unless a release can be made: the tag is that of the version, and Cargo.toml names the
// repository in which the workflow runs.
//
//     node packaging/check-release.mjs --tag v0.1.0 --repository OWNER/palazzo

import { readOptions, readProject } from './project.mjs';

const { tag, repository } = readOptions(['tag', 'repository']);
const project = readProject();
const wrong = [];
if (tag !== `v${project.version}`) wrong.push(`the tag is ${tag}, but the version in Cargo.toml is ${project.version}`);
if (repository !== project.slug) {
    wrong.push(`this is ${repository}, but \`repository\` in Cargo.toml names ${project.slug}: see CONTRIBUTING.md`);
}
for (const it of wrong) console.error(it);
process.exitCode = wrong.length > 0 ? 1 : 0;
