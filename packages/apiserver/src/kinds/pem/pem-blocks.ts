export interface PemBlock {
  /** `CERTIFICATE`. */
  type: string;
  /** The text between its lines, as it is written. */
  body: string;
}

const HEAD = '-----BEGIN ';
const END = '-----END ';

/** The PEM blocks of a text, in order. Reads the text once: it may be a caller's, and have thousands of heads without an end. */
export function pemBlocks(text: string): PemBlock[] {
  const ends = endsByType(text);
  const blocks: PemBlock[] = [];
  for (let at = text.indexOf(HEAD); at >= 0; ) {
    const head = /([^-\n]+)-----\r?\n/y;
    head.lastIndex = at + HEAD.length;
    const [, type = ''] = head.exec(text) ?? [];
    const end = type === '' ? undefined : firstFrom(ends.get(type), head.lastIndex);
    if (end !== undefined) blocks.push({ type, body: text.slice(head.lastIndex, end) });
    at = text.indexOf(HEAD, end === undefined ? at + 1 : end + END.length);
  }
  return blocks;
}

/** Where the lines begin that end a block of that type. */
function endsByType(text: string): ReadonlyMap<string, number[]> {
  const ends = new Map<string, number[]>();
  for (let at = text.indexOf(END); at >= 0; at = text.indexOf(END, at + 1)) {
    const line = /([^-\n]+)-----/y;
    line.lastIndex = at + END.length;
    const [, type] = line.exec(text) ?? [];
    if (type === undefined) continue;
    const places = ends.get(type);
    if (places) places.push(at);
    else ends.set(type, [at]);
  }
  // The next is taken from the end of the list.
  for (const places of ends.values()) places.reverse();
  return ends;
}

function firstFrom(places: number[] | undefined, start: number): number | undefined {
  while (places && (places.at(-1) ?? start) < start) places.pop();
  return places?.at(-1);
}
