// Starts `palazzo lsp`, the language server of Palazzo, for the files of palaces.

import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import * as vscode from 'vscode'
import { LanguageClient, type LanguageClientOptions } from 'vscode-languageclient/node'

// The files of palaces keep their languages, so other extensions for YAML, Markdown and TOML
// still work on them.
const files = [
  '**/{rooms,entities,genera,tasks,processes,conflicts}/**/*.yaml',
  '**/{scrolls,drawers,diary}/**/*.md',
  '**/palace.toml',
]

let client: LanguageClient | undefined

export async function activate(context: vscode.ExtensionContext): Promise<void> {
  context.subscriptions.push(
    vscode.commands.registerCommand('palazzo.restart', restart),
    vscode.workspace.onDidChangeConfiguration(async (change) => {
      const settings = ['palazzo.path', 'palazzo.inlayHints', 'yaml.validate']
      if (settings.some((it) => change.affectsConfiguration(it))) {
        await restart()
      }
    }),
  )
  await vscode.commands.executeCommand('setContext', 'palazzo.active', true)
  await start()
}

export async function deactivate(): Promise<void> {
  await stop()
}

async function restart(): Promise<void> {
  await stop()
  await start()
}

async function start(): Promise<void> {
  const settings = vscode.workspace.getConfiguration('palazzo')
  const program = settings.get<string>('path') || 'palazzo'
  const failure = await failureOf(program)
  if (failure !== undefined) {
    void report(failure)
    return
  }
  const options: LanguageClientOptions = {
    documentSelector: files.map((pattern) => ({ scheme: 'file', pattern })),
    initializationOptions: {
      inlayHints: settings.get<boolean>('inlayHints', false),
      schemaFindings: !checksSchemas(),
    },
  }
  const server = { command: program, args: ['lsp'] }
  client = new LanguageClient('palazzo', 'Palazzo', server, options)
  await client.start()
}

/** Returns whether the extension for YAML of Red Hat reports what violates a schema. */
function checksSchemas(): boolean {
  const isThere = vscode.extensions.getExtension('redhat.vscode-yaml') !== undefined
  return isThere && vscode.workspace.getConfiguration('yaml').get<boolean>('validate', true)
}

async function stop(): Promise<void> {
  const stopped = client
  client = undefined
  await stopped?.dispose()
}

/** Returns why the program does not run, and what to do; `undefined` if it runs. */
async function failureOf(program: string): Promise<string | undefined> {
  try {
    await promisify(execFile)(program, ['lsp', '--help'])
    return undefined
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    const problem = code === 'ENOENT' ? 'was not found' : `does not run: ${message}`
    return `The program "${program}" ${problem}. Install Palazzo, or set palazzo.path; then run "Palazzo: Restart Language Server".`
  }
}

async function report(failure: string): Promise<void> {
  const choice = await vscode.window.showErrorMessage(failure, 'Open Settings')
  if (choice !== undefined) {
    await vscode.commands.executeCommand('workbench.action.openSettings', 'palazzo.path')
  }
}
