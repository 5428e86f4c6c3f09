// Starts an MCP server as a client does: the MCP Inspector lists its tools, and builds a room.
//
//     node packaging/smoke.mjs HOME COMMAND [ARGUMENT...]
//
// HOME is the folder in which the room must be afterwards. The Inspector is the npm package
// `@modelcontextprotocol/inspector`, in target/tmp/inspector or in the folder of $INSPECTOR; it needs
// node 22.19 or newer.

import { execFileSync } from 'node:child_process';
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

import { ROOT } from './project.mjs';

const [home, ...command] = process.argv.slice(2);
const packages = process.env.INSPECTOR ?? join(ROOT, 'target/tmp/inspector/node_modules');
const inspector = join(packages, '@modelcontextprotocol/inspector/clients/launcher/build/index.js');

const tools = inspect('tools/list').tools.map((it) => it.name);
for (const tool of ['set_workspace', 'palace_action', 'build_room', 'write_scroll']) {
    if (!tools.includes(tool)) throw new Error(`the server has no tool ${tool}: ${tools}`);
}
const room = { slug: 'kitchen', name: 'Kitchen', description: 'A copper kettle ticks.' };
const values = Object.entries(room).flatMap(([key, value]) => ['--tool-arg', `${key}=${value}`]);
const answer = inspect('tools/call', '--tool-name', 'build_room', ...values);
if (answer.isError) throw new Error(`build_room failed: ${JSON.stringify(answer)}`);
const [palace] = readdirSync(home).filter((it) => !it.startsWith('.'));
if (!palace) throw new Error(`the room was not built in ${home}: ${JSON.stringify(answer)}`);
const file = readFileSync(join(home, palace, 'rooms/kitchen.yaml'), 'utf8');
if (!file.includes('A copper kettle ticks.')) throw new Error(`the room has no description: ${file}`);
console.log(`${tools.length} tools; built ${palace}/rooms/kitchen.yaml`);

/** Runs one call of the Inspector, and returns the result. */
function inspect(method, ...options) {
    const words = [inspector, '--cli', ...command, '--method', method, ...options];
    const output = execFileSync(process.execPath, words, { encoding: 'utf8', maxBuffer: 1 << 26 });
    return JSON.parse(output);
}
