import { escapeLine } from '@asterism/machinery';

/** Lays rows out as kubectl does: left-aligned columns, three spaces apart, no trailing blanks. A cell stays one line, whatever it holds. */
export function formatColumns(given: readonly (readonly string[])[]): string {
  const rows = given.map((row) => row.map(escapeLine));
  const widths: number[] = [];
  for (const row of rows) {
    row.forEach((cell, column) => {
      widths[column] = Math.max(widths[column] ?? 0, displayWidth(cell));
    });
  }
  return rows
    .map(
      (row) =>
        `${row
          .map((cell, column) => pad(cell, (widths[column] ?? 0) + 3))
          .join('')
          .trimEnd()}\n`,
    )
    .join('');
}

const pad = (text: string, width: number) => text + ' '.repeat(Math.max(0, width - displayWidth(text)));

/** Columns that a text takes on a terminal: escape sequences take none, East Asian wide characters take two. */
export function displayWidth(text: string): number {
  let width = 0;
  for (const character of text.replaceAll(ESCAPES, '')) width += WIDE.test(character) ? 2 : 1;
  return width;
}

const ESCAPES = new RegExp(`${String.fromCharCode(27)}\\[[0-9;]*m`, 'g');
const WIDE = /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]/;
