import { absolutePath, type FileSystem } from '../file-system.ts';

/** The pattern that matches just that text. */
export function literalPattern(text: string): string {
  return text.replaceAll(/[\\*?[\]]/g, '\\$&');
}

/** Whether the pattern has `*`, `?` or `[` that stand for something. */
export function isPattern(pattern: string): boolean {
  return /[*?[]/.test(pattern.replaceAll(/\\./g, ''));
}

/** A regular expression that matches what the shell's pattern does. */
export function patternExpression(
  pattern: string,
  options: { lazy?: boolean; start?: boolean; end?: boolean } = {},
): RegExp {
  const { lazy = false, start = true, end = true } = options;
  let source = '';
  for (let at = 0; at < pattern.length; at += 1) {
    const char = pattern[at] ?? '';
    const set = char === '[' ? /^\[([!^]?)(\]?[^\]]*)\]/.exec(pattern.slice(at)) : null;
    if (char === '*') {
      if (pattern[at - 1] !== '*' || pattern[at - 2] === '\\') source += lazy ? '.*?' : '.*';
    } else if (char === '?') {
      source += '.';
    } else if (set) {
      source += setExpression(set[1] !== '', set[2] ?? '');
      at += set[0].length - 1;
    } else {
      if (char === '\\') at += 1;
      source += (pattern[at] ?? '\\').replace(/[$()*+.?[\\\]^{|}/-]/, '\\$&');
    }
  }
  // oxlint-disable-next-line asterism/linear-expression -- the pattern is the user's own, and only a simulated pod waits for it
  return new RegExp(`${start ? '^' : ''}(?:${source})${end ? '$' : ''}`, 's');
}

function setExpression(negated: boolean, members: string): string {
  const inner = members
    .replaceAll('\\', '\\\\')
    .replaceAll(/[\]^[]/g, '\\$&')
    .replaceAll(/\\\[:(\w+):\\\]/g, (_, name: string) => CLASSES[name] ?? '');
  try {
    // oxlint-disable-next-line asterism/linear-expression -- a set of characters is linear
    return new RegExp(`[${negated ? '^' : ''}${inner}]`).source;
  } catch {
    return '(?!)';
  }
}

/** The named classes of characters, as what stands between brackets. */
export const CLASSES: Readonly<Record<string, string>> = {
  alpha: 'A-Za-z',
  digit: '0-9',
  alnum: 'A-Za-z0-9',
  upper: 'A-Z',
  lower: 'a-z',
  space: '\\s',
  blank: ' \\t',
  punct: '!-\\/:-@\\[-`{-~',
  xdigit: '0-9A-Fa-f',
  cntrl: '\\x00-\\x1f\\x7f',
  print: ' -~',
  graph: '!-~',
};

/** The paths that match, in order; none if none does. A name that begins with a dot matches only such a pattern. */
export function matchPaths(files: FileSystem, directory: string, pattern: string): string[] {
  const steps = pattern.split('/').filter((step) => step !== '');
  let found: string[] = [pattern.startsWith('/') ? '/' : ''];
  for (const step of steps) {
    found = found.flatMap((base) => {
      const join = (name: string): string => (base === '' || base.endsWith('/') ? `${base}${name}` : `${base}/${name}`);
      const plain = step.replaceAll(/\\(.)/g, '$1');
      const full = (path: string): string => absolutePath(directory, path);
      if (!isPattern(step))
        return files.find(full(join(plain)), false) || plain === '..' || plain === '.' ? [join(plain)] : [];
      const node = files.find(full(base));
      if (node?.kind !== 'directory') return [];
      const expression = patternExpression(step);
      const names = [...node.entries.keys()].filter(
        (name) => expression.test(name) && (!name.startsWith('.') || plain.startsWith('.')),
      );
      return names.toSorted().map(join);
    });
  }
  return found;
}
