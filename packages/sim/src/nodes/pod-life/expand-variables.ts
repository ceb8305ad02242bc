/** Puts values in the place of `$(NAME)`. An unknown name stays as it is; `$$(NAME)` means `$(NAME)` itself. */
export function expandVariables(text: string, valueOf: (name: string) => string | undefined): string {
  let expanded = '';
  let from = 0;
  for (let at = text.indexOf('$'); at >= 0; at = text.indexOf('$', from)) {
    expanded += text.slice(from, at);
    const close = text[at + 1] === '(' ? text.indexOf(')', at) : -1;
    // Nothing more can be expanded behind a `$(` that is not closed, but for `$$`.
    if (text[at + 1] === '(' && close < 0) return expanded + text.slice(at).replaceAll('$$', () => '$');
    const found = close < 0 ? text.slice(at, at + (text[at + 1] === '$' ? 2 : 1)) : text.slice(at, close + 1);
    expanded += close < 0 ? '$' : (valueOf(found.slice(2, -1)) ?? found);
    from = at + found.length;
  }
  return expanded + text.slice(from);
}
