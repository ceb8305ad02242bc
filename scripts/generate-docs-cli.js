// The reference of the command line, from the program itself.
import { createProgram } from '../packages/cli/src/program.ts';

/** @typedef {import('commander').Command} Command */

const HEADER = '<!-- Generated from packages/cli/src/program by `npm run generate`. Do not edit. -->\n';

/** @returns {string} */
export function commandPage() {
  let printed = '';
  const terminal = /** @type {any} */ ({
    out: (/** @type {string} */ text) => (printed += text),
    err: () => undefined,
  });
  const program = createProgram('aster', terminal, () => undefined);
  const commands = visible(program).flatMap((command) => family(command, 'aster'));
  /** What help says behind the flags. @param {Command} command */
  const behind = (command) => {
    printed = '';
    command.outputHelp();
    const flags = command.createHelp().formatHelp(command, command.createHelp());
    return printed.startsWith(flags) ? printed.slice(flags.length) : printed;
  };
  const rows = commands.map(
    ({ path, command }) => `| [\`${path}\`](#${anchor(path)}) | ${cell(command.description())} |`,
  );
  const sections = commands.map(({ path, command }) => sectionOf(path, command, behind(command)));
  return `${HEADER}
# aster

${program.description()}.

Data goes to stdout, progress and errors to stderr. What a command ends with: [exit codes](exit-codes-and-environment.md). \`aster COMMAND
--help\` says the same as this page.

| command | what |
|---|---|
${rows.join('\n')}

${sections.join('\n')}`;
}

/** @param {Command} command @returns {Command[]} */
const visible = (command) =>
  command
    .createHelp()
    .visibleCommands(command)
    .filter(({ parent, _name }) => parent && _name !== 'help');

/** A command that does something, and those below it. @param {Command} command @param {string} above @returns {{ path: string, command: Command }[]} */
function family(command, above) {
  const path = `${above} ${command.name()}`;
  const below = visible(command).flatMap((child) => family(child, path));
  const acts = below.length === 0 || command.options.length > 0;
  return acts ? [{ path, command }, ...below] : below;
}

/** @param {string} path @param {Command} command @param {string} behind */
function sectionOf(path, command, behind) {
  const words = command.registeredArguments.map((argument) => {
    const name = `${argument.name()}${argument.variadic ? '...' : ''}`;
    return argument.required ? `<${name}>` : `[${name}]`;
  });
  const usage = [path, ...words, ...(command.options.length > 0 ? ['[flags]'] : [])].join(' ');
  const { notes, examples } = splitHelp(behind);
  const flags = command.options.filter((option) => !option.hidden).map(flagRow);
  return [
    `## ${path}\n`,
    `${command.description()}.\n`,
    `\`\`\`text\n${usage}\n\`\`\`\n`,
    flags.length > 0 ? `| flag | what |\n|---|---|\n${flags.join('\n')}\n` : '',
    notes === '' ? '' : `${notes}\n`,
    examples === ''
      ? ''
      : `<!-- test: not run: of the form only; a test parses each -->\n\`\`\`sh\n${examples}\n\`\`\`\n`,
  ]
    .filter((part) => part !== '')
    .join('\n');
}

/** @param {import('commander').Option} option */
function flagRow(option) {
  const choices = option.argChoices?.map((choice) => `\`${choice}\``).join(', ');
  const what = [
    option.mandatory && !option.description.endsWith('required') ? '**required**' : '',
    option.description,
    choices === undefined ? '' : `one of ${choices}`,
    option.defaultValue === undefined ? '' : `default \`${option.defaultValue}\``,
  ];
  return `| \`${option.flags.replaceAll('|', '\\|')}\` | ${cell(what.filter((part) => part !== '').join('; '))} |`;
}

/** @param {string} text */
function splitHelp(text) {
  const [notes = '', examples = ''] = text.split('\nExamples:\n');
  const lines = examples.split('\n').map((line) => line.trim());
  return { notes: notes.trim(), examples: lines.filter((line) => line !== '').join('\n') };
}

/** In a table `<` would begin a tag where no code is. @param {string} text */
const cell = (text) => text.replaceAll('|', '\\|').replaceAll('<', '&lt;');

/** @param {string} path */
const anchor = (path) => path.replaceAll(' ', '-');
