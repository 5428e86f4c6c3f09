// Drives a real VS Code: code-server, in Chromium, with the packed extension.
//
//   node real-vscode.mjs PALAZZO VSIX
//
// PALAZZO is the program, VSIX the packed extension. README.md says what must be installed.

import assert from 'node:assert/strict'
import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'

const [palazzo, vsix] = process.argv.slice(2).map((it) => resolve(it))
const tools = process.env.VSCODE_TOOLS ?? join(import.meta.dirname, '../../../target/tmp/code-server')
const codeServer = join(tools, 'node_modules/code-server/out/node/entry.js')
const onPath = process.env.PATH.split(':').map((it) => join(it, 'chromium'))
const browserPath = process.env.CHROMIUM ?? onPath.find((it) => existsSync(it))
for (const [name, path] of Object.entries({ PALAZZO: palazzo, VSIX: vsix, 'code-server': codeServer, Chromium: browserPath })) {
  if (path === undefined || !existsSync(path)) {
    console.error(`skipped: ${name} is missing (${path}); see editors/vscode/test/README.md`)
    process.exit(process.env.CI ? 1 : 0)
  }
}
const { default: puppeteer } = await import(join(tools, 'node_modules/puppeteer-core/lib/puppeteer/puppeteer-core.js'))

const dir = mkdtempSync(join(tmpdir(), 'palazzo-vscode-'))
const palace = join(dir, 'home/survey')
const read = (path) => readFileSync(join(palace, path), 'utf8')
const mentions = (slug, ...places) =>
  spawnSync('grep', ['-rq', slug, ...places], { cwd: palace }).status === 0
const started = Date.now()
const report = (what) => console.log(`${((Date.now() - started) / 1000).toFixed(1)} s: ${what}`)

/** Repeats until the result is true. */
async function until(what, condition) {
  for (let tries = 0; tries < 200; tries += 1) {
    const found = await condition()
    if (found) return found
    await new Promise((wake) => setTimeout(wake, 100))
  }
  throw new Error(`not seen in 60 s: ${what}`)
}

function freePort() {
  return new Promise((answer) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address()
      server.close(() => answer(port))
    })
  })
}

function preparePalace() {
  const env = { ...process.env, HOME: dir, GIT_CONFIG_GLOBAL: join(dir, 'gitconfig') }
  writeFileSync(join(dir, 'gitconfig'), '[user]\nname = Ada\nemail = ada@example.org\n')
  const args = ['init', 'survey', '--template', 'paradigm-survey', '--home', join(dir, 'home')]
  execFileSync(palazzo, args, { env, stdio: 'ignore' })
}

function writeSettings(program) {
  const settings = {
    'palazzo.path': program,
    'git.enabled': false,
    'workbench.startupEditor': 'none',
    'workbench.secondarySideBar.defaultVisibility': 'hidden',
    'security.workspace.trust.enabled': false,
    'chat.disableAIFeatures': true,
  }
  // Settings of a machine, such as a path, are those of the server.
  for (const folder of ['user/User', 'user/Machine']) {
    mkdirSync(join(dir, folder), { recursive: true })
    writeFileSync(join(dir, folder, 'settings.json'), JSON.stringify(settings))
  }
}

async function startCodeServer(port) {
  const places = ['--user-data-dir', join(dir, 'user'), '--extensions-dir', join(dir, 'extensions')]
  const env = { ...process.env, HOME: dir }
  execFileSync(process.execPath, [codeServer, ...places, '--install-extension', vsix], { env, stdio: 'ignore' })
  writeSettings(palazzo)
  const flags = ['--auth', 'none', '--bind-addr', `127.0.0.1:${port}`, '--disable-telemetry', '--disable-update-check', '--disable-workspace-trust', '--disable-getting-started-override']
  const server = spawn(process.execPath, [codeServer, ...places, ...flags], { env, stdio: 'ignore', detached: true })
  await until('an answer of code-server', () => fetch(`http://127.0.0.1:${port}/healthz`).then((it) => it.ok, () => false))
  return server
}

preparePalace()
const port = await freePort()
const server = await startCodeServer(port)
report('code-server runs')
const browser = await puppeteer.launch({
  executablePath: browserPath,
  args: ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking', '--disable-component-update', '--disable-sync'],
  userDataDir: join(dir, 'chromium'),
  defaultViewport: { width: 1400, height: 900 },
})
const page = await browser.newPage()

const chord = async (...keys) => {
  for (const key of keys) await page.keyboard.down(key)
  for (const key of keys.reverse()) await page.keyboard.up(key)
}
const texts = (selector) =>
  page.$$eval(selector, (found) => found.map((it) => it.textContent.replaceAll('\u00a0', ' ')))
const activeTab = () => page.$eval('.tab.active', (it) => it.dataset.resourceName).catch(() => undefined)

async function quickOpen(text) {
  await chord('Control', 'p')
  await page.waitForSelector('.quick-input-widget:not([style*="display: none"]) input')
  await page.keyboard.type(text)
  await until(`${text} in the list`, async () => (await texts('.quick-input-list .monaco-list-row.focused'))[0]?.startsWith(text))
  await page.keyboard.press('Enter')
}

async function open(file) {
  await quickOpen(file)
  await until(`the tab of ${file}`, async () => (await activeTab()) === file)
  await until('the text', async () => (await texts('.view-line')).length > 0)
}

/** Puts the cursor into the text, after `before`. */
async function cursorAfter(path, before) {
  const lines = read(path).split('\n')
  const line = lines.findIndex((it) => it.includes(before))
  const column = lines[line].indexOf(before) + before.length
  await chord('Control', 'g')
  await page.waitForSelector('.quick-input-widget:not([style*="display: none"]) input')
  await page.keyboard.type(`${line + 1}:${column + 1}`)
  await page.keyboard.press('Enter')
  await until('the cursor', async () => (await texts('#status\\.editor\\.selection')).some((it) => it.includes(`Ln ${line + 1}, Col ${column + 1}`)))
}

async function story() {
  await page.goto(`http://127.0.0.1:${port}/?folder=${palace}`)
  await page.waitForSelector('.monaco-workbench', { timeout: 60000 })
  report('VS Code is open')

  await open('hall-of-geology.yaml')
  await chord('Control', 'Shift', 'm')
  await until('the finding', async () =>
    (await texts('.markers-panel .monaco-list-row')).some((it) => it.includes('the room `catastrophism-alcove` is not built yet')))
  report('the diagnostics are shown')

  // Completion replaces the whole slug, though hyphens end words in VS Code.
  await open('great-hall.yaml')
  await cursorAfter('rooms/great-hall.yaml', 'room: hall-of-biology')
  await chord('Control', ' ')
  const offered = await until('completions', async () => {
    const found = await texts('.suggest-widget.visible .monaco-list-row')
    return found.some((it) => it.includes('hall-of-biology')) && found
  })
  report(`completion offers ${JSON.stringify(offered)}`)
  await page.keyboard.press('Enter')
  await until('no list', async () => (await page.$('.suggest-widget.visible')) === null)
  assert.ok((await texts('.view-line')).some((it) => it.trimEnd().endsWith(' room: hall-of-biology')))
  await chord('Control', 's')
  await until('a saved file', async () => (await page.$('.tab.active.dirty')) === null)
  assert.ok(!read('rooms/great-hall.yaml').includes('hall-of-hall'))

  await cursorAfter('rooms/great-hall.yaml', 'room: hall-of-bio')
  await page.keyboard.press('F12')
  await until('the file of the room', async () => (await activeTab()) === 'hall-of-biology.yaml')
  report('F12 opened hall-of-biology.yaml')

  await open('great-hall.yaml')
  await cursorAfter('rooms/great-hall.yaml', 'room: hall-of-bio')
  await page.keyboard.press('F2')
  await page.waitForSelector('.rename-box input', { visible: true })
  assert.equal(await page.$eval('.rename-box input', (it) => it.value), 'hall-of-biology')
  await until('the focus', () => page.$eval('.rename-box input', (it) => it === document.activeElement))
  await page.$eval('.rename-box input', (it) => it.select())
  await page.keyboard.type('menagerie')
  await page.keyboard.press('Enter')
  await until('the renamed file', () => existsSync(join(palace, 'rooms/menagerie.yaml')))
  await until('saved mentions', () => !mentions('hall-of-biology', 'rooms', 'tasks', 'palace.toml'))
  assert.ok(!existsSync(join(palace, 'rooms/hall-of-biology.yaml')))
  report('F2 renamed hall-of-biology to menagerie, with its file')

  // A file that is renamed in the tree.
  await page.click('.explorer-folders-view [aria-label^="ledger-loft.yaml"]')
  await page.keyboard.press('F2')
  await page.waitForSelector('.explorer-item-edited input, .explorer-viewlet .monaco-inputbox input', { visible: true })
  await chord('Control', 'a')
  await page.keyboard.type('attic.yaml')
  await page.keyboard.press('Enter')
  // VS Code asks whether the extension may change other files.
  await page.waitForSelector('.monaco-dialog-box', { visible: true })
  await until('the focus', () => page.$eval('.monaco-dialog-box', (it) => it.contains(document.activeElement)))
  await page.keyboard.press('Enter')
  await until('the renamed file', () => existsSync(join(palace, 'rooms/attic.yaml')))
  await until('saved mentions', () => !mentions('ledger-loft', 'rooms', 'tasks', 'palace.toml'))
  report('the tree renamed ledger-loft.yaml to attic.yaml; its doors follow')

  writeSettings('/nowhere/palazzo')
  await until('the message', async () =>
    (await texts('.notification-list-item-message')).some((it) => it.includes('"/nowhere/palazzo" was not found. Install Palazzo')))
  report('a missing program is reported')
}

let failure
try {
  await story()
} catch (error) {
  failure = error
  await page.screenshot({ path: join(tools, 'failure.png') })
  console.error(error, `see ${join(tools, 'failure.png')}`)
} finally {
  await browser.close()
  process.kill(-server.pid)
  rmSync(dir, { recursive: true, force: true, maxRetries: 5 })
}
process.exit(failure === undefined ? 0 : 1)
