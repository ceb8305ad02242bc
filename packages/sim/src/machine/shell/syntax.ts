/** A piece of a word. What is quoted is neither split nor matched against files. */
export type WordPart =
  | { kind: 'text'; text: string; quoted: boolean }
  | { kind: 'parameter'; name: string; operator: string; operand: Word; quoted: boolean }
  | { kind: 'command'; body: Script; quoted: boolean }
  | { kind: 'arithmetic'; expression: Word; quoted: boolean };

export type Word = readonly WordPart[];

export interface Redirection {
  descriptor: number;
  operator: '<' | '>' | '>>' | '>|' | '<>' | '<&' | '>&' | '<<';
  /** For `<<` the text itself. */
  target: Word;
}

export interface Assignment {
  name: string;
  value: Word;
}

interface Redirected {
  redirections: readonly Redirection[];
}

export interface SimpleCommand extends Redirected {
  kind: 'simple';
  assignments: readonly Assignment[];
  words: readonly Word[];
}

export type CompoundCommand =
  | (Redirected & {
      kind: 'if';
      branches: readonly { condition: Script; body: Script }[];
      otherwise: Script | undefined;
    })
  | (Redirected & { kind: 'loop'; until: boolean; condition: Script; body: Script })
  | (Redirected & { kind: 'for'; name: string; words: readonly Word[] | undefined; body: Script })
  | (Redirected & { kind: 'case'; subject: Word; branches: readonly { patterns: readonly Word[]; body: Script }[] })
  | (Redirected & { kind: 'group'; body: Script })
  | (Redirected & { kind: 'subshell'; body: Script });

export type Command = SimpleCommand | CompoundCommand | { kind: 'function'; name: string; body: Command };

export interface Pipeline {
  negated: boolean;
  commands: readonly Command[];
}

/** Pipelines with `&&` and `||` between them. */
export interface AndOr {
  first: Pipeline;
  rest: readonly { operator: '&&' | '||'; pipeline: Pipeline }[];
  background: boolean;
  /** As it was written, for `jobs` and `ps`. */
  text: string;
}

export type Script = readonly AndOr[];

/** What is no shell script, or not yet. */
export class ShellSyntaxError extends Error {
  override readonly name = 'ShellSyntaxError';
  /** More text may make it one. */
  readonly incomplete: boolean;

  constructor(message: string, incomplete = false) {
    super(`syntax error: ${message}`);
    this.incomplete = incomplete;
  }
}
