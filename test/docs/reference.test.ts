import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import type { Command } from 'commander';
import type { Terminal } from '../../packages/cli/src/output/terminal.ts';
import { createProgram } from '../../packages/cli/src/program.ts';
import { HUB_CONTROLLERS } from '../cluster/control-plane-controllers.ts';

/** The words that each `aster` of a line is called with, as a shell reads them. */
function callsOf(line: string, cwd: string): string[][] {
  const functions = `aster() { printf '%s\\n' "$@" end >&3; }; source() { cat "$@"; }; kubectl() { cat; }; touch token; `;
  const { output, status, error } = spawnSync('bash', ['-c', `${functions}${line}`], {
    cwd,
    stdio: ['ignore', 'ignore', 'pipe', 'pipe'],
    encoding: 'utf8',
  });
  assert.equal(status, 0, `${line}: ${error?.message ?? output[2]}`);
  const calls = (output[3] ?? '').split(/^end$/m).slice(0, -1);
  return calls.map((words) => words.split('\n').filter((word) => word !== ''));
}

/** Every command takes its flags, and does nothing. */
function onlyParsing(command: Command): Command {
  for (const child of command.commands) onlyParsing(child);
  return command.action(() => undefined);
}

test('every example of the command line is one that aster takes', async () => {
  const page = await readFile('docs/reference/cli.md', 'utf8');
  const lines = [...page.matchAll(/^```sh\n([\s\S]*?)^```$/gm)].flatMap(([, block = '']) => block.trim().split('\n'));
  assert.ok(lines.length > 20, `${lines.length} examples`);
  const cwd = await mkdtemp(join(tmpdir(), 'asterism-examples-'));
  let said = '';
  const terminal = { out: () => undefined, err: (text: string) => (said += text) } as unknown as Terminal;
  for (const line of lines) {
    const calls = callsOf(line.replaceAll('aster completion fish | source', 'aster completion fish | source -'), cwd);
    assert.notEqual(calls.length, 0, line);
    for (const words of calls) {
      const program = onlyParsing(createProgram('aster', terminal, () => undefined));
      await assert.doesNotReject(program.parseAsync(words, { from: 'user' }), `${line}: ${said}`);
    }
  }
  await rm(cwd, { recursive: true });
});

test('the controllers that a control plane for the hub runs are those that the tests run', async () => {
  const page = await readFile('docs/how-to/run-the-hub-on-a-kube-apiserver.md', 'utf8');
  assert.equal(/^--controllers=(.*)$/m.exec(page)?.[1], HUB_CONTROLLERS.join(','));
});
