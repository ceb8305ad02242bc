/** For a terminal, or for a document. */
export type TableStyle = 'plain' | 'markdown';

/** Aligned columns; those with numbers alone to the right. No newline at the end. */
export function renderTable(
  columns: readonly string[],
  rows: readonly (readonly string[])[],
  style: TableStyle,
): string {
  const widths = columns.map((title, column) =>
    Math.max(3, title.length, ...rows.map((row) => cell(row, column).length)),
  );
  const right = columns.map(
    (_, column) => rows.some(hasCell(column)) && rows.every((row) => isNumeric(cell(row, column))),
  );
  const line = (cells: readonly string[]): string[] =>
    columns.map((_, column) => pad(cell(cells, column), widths[column] ?? 0, right[column] === true));
  if (style === 'plain') return [columns, ...rows].map((row) => line(row).join('  ').trimEnd()).join('\n');
  const rule = widths.map((width, column) => (right[column] ? `${'-'.repeat(width - 1)}:` : '-'.repeat(width)));
  return [line(columns), rule, ...rows.map(line)].map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}

const cell = (row: readonly string[], column: number): string => row[column] ?? '';

const hasCell =
  (column: number) =>
  (row: readonly string[]): boolean =>
    /\d/.test(cell(row, column));

const isNumeric = (text: string): boolean => /^(-?[\d,.]+( ×)?|–|not measured)?$/.test(text);

function pad(text: string, width: number, right: boolean): string {
  return right ? text.padStart(width) : text.padEnd(width);
}
