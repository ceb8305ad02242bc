import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Command } from 'commander';
import { complete } from './commands/completion.ts';
import { CommandError, EXIT } from './exit-code.ts';
import { createProgram } from './program.ts';
import { fakeTerminal } from './testing/fake-hub.ts';

const program = () => createProgram('aster', fakeTerminal(), () => {});

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
      const shown = fakeTerminal();
      command.configureOutput({ writeOut: (text) => shown.out(text) }).outputHelp();
      assert.match(shown.stdout, new RegExp(`^Examples:\n(.*\n)*.*aster ${fullName(command)}`, 'm'), fullName(command));
    }
  });

  test('a command and the one below it may have a flag of one name', async () => {
    const shown = fakeTerminal();
    const exits: number[] = [];
    await createProgram('aster', shown, (code) => exits.push(code)).parseAsync(
      ['agent', 'manifests', '--mode', 'PUSH'],
      { from: 'user' },
    );
    assert.deepEqual(exits, [0]);
    assert.match(shown.stdout, /^apiVersion: v1\nkind: Namespace\n/);
    // Push alone gives the hub an account there.
    assert.match(shown.stdout, /^ {2}name: asterism-hub$/m);
  });

  for (const [words, says] of [
    [['agent', 'manifest'], /^agent: "manifest" is none of its subcommands: manifests /],
    [['agent', 'manifest', '--mode', 'push'], /^agent: "manifest" is none/],
    [['hub', 'manifests.yaml'], /^hub: "manifests.yaml" is none of its subcommands: manifests /],
    [['token', 'creat', 'x'], /^token: "creat" is none of its subcommands: create /],
  ] as const) {
    test(`\`aster ${words.join(' ')}\` is told which subcommands there are`, async () => {
      await assert.rejects(
        program().parseAsync(words, { from: 'user' }),
        (error) => error instanceof CommandError && error.exitCode === EXIT.usage && says.test(error.message),
      );
    });
  }

  for (const words of [
    ['agent', 'manifests', 'x', '--mode', 'push'],
    ['hub', 'manifests', 'x'],
    ['token', 'create', 'x'],
    ['token'],
  ]) {
    test(`\`aster ${words.join(' ')}\` is wrong usage`, async () => {
      await assert.rejects(program().parseAsync(words, { from: 'user' }), { name: 'CommanderError', exitCode: 1 });
    });
  }

  for (const command of ['agent', 'join']) {
    test(`\`aster ${command} --reach\` is told which modes there are`, async () => {
      const shown = fakeTerminal();
      const wrong = createProgram('aster', shown, () => {}).parseAsync([command, '--reach', 'read'], { from: 'user' });
      await assert.rejects(wrong, { code: 'commander.invalidArgument' });
      assert.match(shown.stderr, /'--reach <mode>' argument 'read' is invalid\. .*impersonate, readonly, off/);
    });
  }

  for (const words of [
    ['get', 'deploy', 'web', '-l', 'a=b'],
    ['get', 'deploy/web', '--field-selector', 'a=b'],
    ['search', 'deploy', 'web', '-l', 'a=b'],
    ['search', 'deploy/web', '--field-selector', 'a=b'],
  ]) {
    test(`\`aster ${words.join(' ')}\`: a name and a selector, of which one would go unheard`, async () => {
      await assert.rejects(
        program().parseAsync([...words, '--kubeconfig', '/nowhere'], { from: 'user' }),
        (error) =>
          error instanceof CommandError &&
          error.exitCode === EXIT.usage &&
          new RegExp(`^a name and ${words.at(-2)} do not go together`).test(error.message),
      );
    });
  }

  for (const [words, candidates] of [
    [['a'], ['agent', 'api-resources', 'apply', 'approve']],
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
    [['exec', '--st'], ['--stdin']],
    [['kubeconfig', '--p'], ['--prune']],
    [['completion', 'z'], ['zsh']],
  ] as const) {
    test(`a shell is offered, behind \`aster ${words.join(' ')}\`: ${candidates.join(', ') || 'nothing'}`, async () => {
      const shown = fakeTerminal();
      await complete(program(), words, shown);
      assert.deepEqual(
        shown.stdout.split('\n').filter((line) => line !== ''),
        candidates,
      );
    });
  }
});
