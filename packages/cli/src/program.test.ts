import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Command } from 'commander';
import { complete } from './commands/completion.ts';
import type { Terminal } from './output/terminal.ts';
import { createProgram } from './program.ts';

function terminal(): Terminal & { text: string } {
  return {
    text: '',
    out(text) {
      this.text += text;
    },
    err(text) {
      this.text += text;
    },
    interactive: false,
    style: (_, text) => text,
    width: 100,
  };
}

const program = () => createProgram('aster', terminal(), () => {});

function everyCommand(command: Command): Command[] {
  const below = command.commands.filter((candidate) => !candidate.name().startsWith('__'));
  return below.flatMap((candidate) => [candidate, ...everyCommand(candidate)]);
}

const fullName = (command: Command): string =>
  command.parent ? `${fullName(command.parent)} ${command.name()}`.trim() : '';

describe('the command line', () => {
  test('every command and flag says what it is, and every command that does something shows how', () => {
    const commands = everyCommand(program());
    for (const name of [
      'up',
      'hub',
      'hub manifests',
      'agent',
      'agent manifests',
      'token create',
      'get',
      'completion',
    ]) {
      assert.ok(
        commands.some((command) => fullName(command) === name),
        name,
      );
    }
    for (const command of commands) {
      assert.notEqual(command.description(), '', fullName(command));
      for (const option of command.options)
        assert.notEqual(option.description, '', `${fullName(command)} ${option.flags}`);
      if (command.commands.length > 0 && fullName(command) === 'token') continue;
      const shown = terminal();
      command.configureOutput({ writeOut: (text) => shown.out(text) }).outputHelp();
      assert.match(shown.text, new RegExp(`^Examples:\n(.*\n)*.*aster ${fullName(command)}`, 'm'), fullName(command));
    }
  });

  test('a command and the one below it may have a flag of one name', async () => {
    const shown = terminal();
    const exits: number[] = [];
    await createProgram('aster', shown, (code) => exits.push(code)).parseAsync(
      ['agent', 'manifests', '--mode', 'PUSH'],
      { from: 'user' },
    );
    assert.deepEqual(exits, [0]);
    assert.match(shown.text, /^apiVersion: v1\nkind: Namespace\n/);
    // Push alone gives the hub an account there.
    assert.match(shown.text, /^ {2}name: asterism-hub$/m);
  });

  for (const [words, candidates] of [
    [['a'], ['agent', 'apply']],
    [['agent', ''], ['manifests']],
    [
      ['agent', '--mode', 'pu'],
      ['pull', 'push'],
    ],
    [['agent', '--name', 'manifests', '--hub-'], ['--hub-ca']],
    [['agent', 'manifests', '--m'], ['--mode']],
    [
      ['hub', '--templates', ''],
      ['embedded', 'host'],
    ],
    [['hub', '--kubeconfig', ''], []],
    [['token', ''], ['create']],
    [['token', 'create', '--a'], ['--auto-approve']],
    [['completion', 'z'], ['zsh']],
  ] as const) {
    test(`a shell is offered, behind \`aster ${words.join(' ')}\`: ${candidates.join(', ') || 'nothing'}`, async () => {
      const shown = terminal();
      await complete(program(), words, shown);
      assert.deepEqual(
        shown.text.split('\n').filter((line) => line !== ''),
        candidates,
      );
    });
  }
});
