// Makes the folders of the bundles for Claude Desktop (`.mcpb`) from the archives of a release.
//
//     node packaging/mcpb.mjs --archives dist --out dist/mcpb [--only linux --target x86_64-unknown-linux-gnu]
//
// `mcpb pack FOLDER FILE` of the npm package `@anthropic-ai/mcpb` then packs each. A bundle cannot
// choose by processor, so there is one for each system; `--target` takes another program for it.

import { copyFileSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { extractProgram } from './extract.mjs';
import { BUNDLES, ROOT, programName, readOptions, readProject } from './project.mjs';

const { archives, out, only, target } = readOptions(['archives', 'out']);
const project = readProject();
rmSync(out, { recursive: true, force: true });
for (const bundle of BUNDLES.filter((it) => !only || it.name === only)) {
    const rust = target ?? bundle.rust;
    const folder = join(out, bundle.name);
    const program = programName(project, rust);
    mkdirSync(join(folder, 'server'), { recursive: true });
    extractProgram(project, rust, archives, join(folder, 'server', program));
    for (const file of ['LICENSE-APACHE', 'LICENSE-MIT']) copyFileSync(join(ROOT, file), join(folder, file));
    writeFileSync(join(folder, 'manifest.json'), `${JSON.stringify(manifest(bundle.platform, program), undefined, 2)}\n`);
    console.log(folder);
}

function manifest(platform, program) {
    const { name, version, description, license, repository, keywords, owner } = project;
    return {
        manifest_version: '0.4',
        name,
        display_name: 'Palazzo',
        version,
        description,
        author: { name: owner, url: repository },
        repository: { type: 'git', url: repository },
        homepage: repository,
        license,
        keywords,
        server: {
            type: 'binary',
            entry_point: `server/${program}`,
            mcp_config: {
                command: `\${__dirname}/server/${program}`,
                args: ['serve', '${user_config.home}'],
                env: {},
            },
        },
        tools_generated: true,
        prompts_generated: true,
        compatibility: { platforms: [platform] },
        user_config: {
            home: {
                type: 'directory',
                title: 'Palaces',
                description: 'The folder of your palaces. It need not exist.',
                required: true,
                default: '${HOME}/palaces',
            },
        },
    };
}
