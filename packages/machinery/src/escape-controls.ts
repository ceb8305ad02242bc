/**
 * Characters that a terminal acts on, or that change the order or the lines of what it shows: C0 (but newline and tab), DEL, C1,
 * directional marks, embeddings, overrides and isolates, line and paragraph separators, interlinear annotations, a byte order mark,
 * tags.
 */
const CONTROLS =
  // oxlint-disable-next-line no-control-regex -- control characters are the ones to escape
  /[\0-\b\v-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff\ufff9-\ufffb]|\udb40[\udc00-\udc7f]/g;

/**
 * Text of any origin as a terminal may show it: controls become visible. C0 is written in caret notation (`^[` for ESC). The rest is
 * written as `\u009b`, which in JSON and in double quotes of YAML is the same character: such documents keep their meaning.
 *
 * Newline and tab stay. A text without controls comes back as it is.
 */
export function escapeControls(text: string): string {
  return text.replace(CONTROLS, (control) => {
    const code = control.charCodeAt(0);
    return code < 0x20 ? `^${String.fromCharCode(code + 0x40)}` : escaped(control);
  });
}

/** As {@link escapeControls}, on one line: of a cell or a name. */
export function escapeLine(text: string): string {
  return escapeControls(text).replaceAll('\n', '\\n').replaceAll('\t', '\\t');
}

/** Whether {@link escapeControls} changes the text. */
export function hasControls(text: string): boolean {
  return text.search(CONTROLS) >= 0;
}

function escaped(control: string): string {
  return Array.from({ length: control.length }, (_, at) => {
    return `\\u${control.charCodeAt(at).toString(16).padStart(4, '0')}`;
  }).join('');
}
