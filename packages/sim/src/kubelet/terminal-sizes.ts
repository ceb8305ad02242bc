import { parseJson } from '@asterism/machinery';

const MAX_TEXT = 4096;

/** Reads `{"Width":…,"Height":…}` values from text that comes in any pieces; what is not one is passed over. */
export class TerminalSizes {
  #text = '';

  read(piece: Uint8Array): { columns: number; rows: number }[] {
    this.#text = (this.#text + Buffer.from(piece).toString('utf8')).slice(-MAX_TEXT);
    const sizes: { columns: number; rows: number }[] = [];
    let end = 0;
    for (const match of this.#text.matchAll(/\{[^{}]*\}/g)) {
      end = match.index + match[0].length;
      const size = readSize(match[0]);
      if (size !== undefined) sizes.push(size);
    }
    this.#text = this.#text.slice(end);
    return sizes;
  }
}

function readSize(text: string): { columns: number; rows: number } | undefined {
  try {
    const { Width: columns, Height: rows } = parseJson(text) as { Width?: unknown; Height?: unknown };
    if (!isSize(columns) || !isSize(rows)) return undefined;
    return { columns, rows };
  } catch {
    return undefined;
  }
}

function isSize(value: unknown): value is number {
  return typeof value === 'number' && Number.isInteger(value) && value > 0 && value <= 0xffff;
}
