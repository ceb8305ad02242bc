import { readFile } from 'node:fs/promises';

/**
 * What a document asks a reader to do, in its order. A fenced block of `sh` or `console` is run unless a comment in front of it says
 * otherwise; README.md of this folder lists the comments.
 */
export type Step =
  | { kind: 'run'; line: number; command: string; expected?: string; exitCode: number; repeat: boolean }
  | { kind: 'background'; line: number; command: string; ready: RegExp }
  | { kind: 'file'; line: number; name: string; text: string }
  | { kind: 'interrupt'; line: number }
  | { kind: 'control plane'; line: number; name: string; role: string }
  | { kind: 'not run'; line: number; reason: string };

export interface Document {
  path: string;
  /** Programs that a reader must have beside Node and npm. */
  needs: string[];
  steps: Step[];
}

interface Fence {
  line: number;
  language: string;
  text: string;
}

/** What the comments since the last block say about the next one. */
interface Directives {
  notRun?: string;
  ready?: RegExp;
  file?: string;
  exitCode?: number;
  repeat?: boolean;
}

const RUN_AS_SHELL = new Set(['sh', 'console']);
const OTHERWISE = new Set(['bash', 'shell', 'zsh', 'shell-session']);

/**
 * Reads a document. `notes` says of blocks (by how they begin) what a comment would, for documents that shall have none.
 * Rejects where a comment is not understood, or stands in front of no block.
 */
export async function readDocument(path: string, notes: Record<string, string> = {}): Promise<Document> {
  return parseDocument(path, await readFile(path, 'utf8'), notes);
}

export function parseDocument(path: string, source: string, notes: Record<string, string> = {}): Document {
  const document: Document = { path, needs: [], steps: [] };
  let directives: Directives = {};
  for (const part of partsOf(source)) {
    try {
      if (part.kind === 'comment') directives = readComment(document, directives, part);
      else {
        const note = Object.entries(notes).find(([beginning]) => part.text.startsWith(beginning))?.[1];
        if (note !== undefined) directives = readComment(document, directives, { line: part.line, text: note });
        document.steps.push(...stepsOf(part, directives));
        directives = {};
      }
    } catch (error) {
      throw new Error(`${path}:${part.line}: ${(error as Error).message}`, { cause: error });
    }
  }
  if (Object.keys(directives).length > 0) throw new Error(`${path}: a test comment at the end is about no block`);
  return document;
}

type Part = ({ kind: 'comment' } & { line: number; text: string }) | ({ kind: 'fence' } & Fence);

/** Comments for the runner, and fenced blocks. A block in a list is indented as a whole. */
function* partsOf(source: string): Generator<Part> {
  const lines = source.split('\n');
  for (let index = 0; index < lines.length; index += 1) {
    const text = lines[index] ?? '';
    const comment = /^\s*<!-- test: (.*) -->\s*$/.exec(text)?.[1];
    if (comment !== undefined) yield { kind: 'comment', line: index + 1, text: comment };
    const fence = /^(\s*)(`{3,})(\S*)/.exec(text);
    if (fence === null) continue;
    const [, indent = '', marks = '', language = ''] = fence;
    const from = index + 1;
    for (index += 1; index < lines.length && lines[index]?.trim() !== marks; index += 1);
    const body = lines.slice(from, index).map((line) => (line.startsWith(indent) ? line.slice(indent.length) : line));
    yield { kind: 'fence', line: from + 1, language, text: `${body.join('\n')}\n` };
  }
}

function readComment(
  document: Document,
  directives: Directives,
  { line, text }: { line: number; text: string },
): Directives {
  const [, word = '', rest = ''] =
    /^(needs|not run:|background, ready when|file|ends with|until it says so|interrupt|control plane)\s*(.*)$/.exec(
      text,
    ) ?? [];
  if (word === 'needs') document.needs.push(...rest.split(' '));
  else if (word === 'interrupt') document.steps.push({ kind: 'interrupt', line });
  else if (word === 'control plane') {
    const [, name = '', role = ''] = /^([a-z-]+) as (member|host)$/.exec(rest) ?? [];
    if (name === '') throw new Error(`"${rest}" is not NAME as member, nor NAME as host`);
    document.steps.push({ kind: 'control plane', line, name, role });
  } else if (word === 'not run:' && rest !== '') return { ...directives, notRun: rest };
  else if (word === 'file' && rest !== '') return { ...directives, file: rest };
  else if (word === 'ends with' && /^\d+$/.test(rest)) return { ...directives, exitCode: Number(rest) };
  else if (word === 'until it says so') return { ...directives, repeat: true };
  else if (word === 'background, ready when' && /^\/.+\/$/.test(rest))
    return { ...directives, ready: new RegExp(rest.slice(1, -1), 'm') };
  else throw new Error(`the comment "test: ${text}" is none that the runner knows`);
  return directives;
}

function stepsOf(fence: Fence, directives: Directives): Step[] {
  const { line, language, text } = fence;
  if (OTHERWISE.has(language)) throw new Error(`a block of commands is called sh or console, not ${language}`);
  if (directives.notRun !== undefined) return [{ kind: 'not run', line, reason: directives.notRun }];
  if (directives.file !== undefined) return [{ kind: 'file', line, name: directives.file, text }];
  if (!RUN_AS_SHELL.has(language)) return [];
  if (directives.ready !== undefined) return [{ kind: 'background', line, command: text, ready: directives.ready }];
  const rules = { exitCode: directives.exitCode ?? 0, repeat: directives.repeat ?? false };
  if (language === 'sh' || !/^\$ /m.test(text)) return [{ kind: 'run', line, command: text, ...rules }];
  return sessionOf(fence).map((entry) => ({ kind: 'run', ...entry, ...rules }));
}

/** `$ command` and what it prints, again and again. A command goes on behind a backslash. */
function sessionOf({ line, text }: Fence): { line: number; command: string; expected?: string }[] {
  const entries: { line: number; command: string; expected?: string }[] = [];
  let goesOn = false;
  for (const [offset, content] of text.trimEnd().split('\n').entries()) {
    const last = entries.at(-1);
    if (goesOn && last !== undefined) last.command += `\n${content.replace(/^> /, '')}`;
    else if (content.startsWith('$ ')) entries.push({ line: line + offset, command: content.slice(2) });
    else if (last === undefined) throw new Error('a console block begins with a command, `$ …`');
    else last.expected = last.expected === undefined ? content : `${last.expected}\n${content}`;
    goesOn = (goesOn || content.startsWith('$ ')) && content.endsWith('\\');
  }
  return entries;
}
