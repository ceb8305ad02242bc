import type { Document, YAMLMap, YAMLSeq } from 'yaml';
import { parseJson } from '@asterism/machinery';
import { ClientError } from '../client-error.ts';
import type { Kubeconfig } from './kubeconfig.ts';

/** What is changed in a kubeconfig; all else in it stays as it stands, comments too. */
export interface KubeconfigEdit {
  /** Put in the place of entries of the same names, or behind the others. */
  set: Pick<Kubeconfig, 'clusters' | 'users' | 'contexts'>;
  /** Names of entries to be taken out. */
  remove?: { clusters?: readonly string[]; users?: readonly string[]; contexts?: readonly string[] } | undefined;
  /** Becomes the current context where there is none. */
  currentContext?: string | undefined;
}

const LISTS = ['clusters', 'users', 'contexts'] as const;

/**
 * The text of a kubeconfig with an edit made in it. '' is an empty one. JSON stays JSON, YAML stays YAML. Rejects with a
 * `ClientError` (`ERR_KUBECONFIG`), which quotes nothing, where `text` is neither.
 */
export async function editKubeconfig(text: string, edit: KubeconfigEdit): Promise<string> {
  if (text.trimStart().startsWith('{')) return editJson(text, edit);
  const { parseDocument, isMap, isSeq } = await import('yaml');
  const document = parseDocument(text, { prettyErrors: false });
  // The parser's own words may quote the line, and with it a token.
  if (document.errors.length > 0) throw broken('it is not YAML');
  if (document.contents === null)
    document.contents = document.createNode({ apiVersion: 'v1', kind: 'Config' }) as never;
  if (!isMap(document.contents)) throw broken('it is not a mapping');
  for (const list of LISTS) {
    const found = document.get(list);
    if (found !== undefined && found !== null && !isSeq(found)) throw broken(`${list} is not a list`);
    const sequence = isSeq(found) ? found : (document.createNode([]) as YAMLSeq);
    if (!isSeq(found)) document.set(list, sequence);
    editSequence(document, sequence, { entries: edit.set[list], gone: edit.remove?.[list] ?? [], isMap });
  }
  const current = document.get('current-context');
  if (!current && edit.currentContext !== undefined) document.set('current-context', edit.currentContext);
  return document.toString({ lineWidth: 0 });
}

function editSequence(
  document: Document,
  sequence: YAMLSeq,
  change: { entries: readonly { name: string }[]; gone: readonly string[]; isMap: (node: unknown) => node is YAMLMap },
): void {
  const nameOf = (item: unknown): unknown => (change.isMap(item) ? item.get('name') : undefined);
  // `[]` would have all that is put into it on its one line.
  if (sequence.items.length === 0) sequence.flow = false;
  sequence.items = sequence.items.filter((item) => !change.gone.includes(String(nameOf(item))));
  for (const entry of change.entries) {
    const node = document.createNode(entry);
    const at = sequence.items.findIndex((item) => nameOf(item) === entry.name);
    if (at < 0) sequence.items.push(node);
    else sequence.items[at] = node;
  }
}

function editJson(text: string, edit: KubeconfigEdit): string {
  let kubeconfig: Partial<Kubeconfig>;
  try {
    kubeconfig = parseJson(text) as Partial<Kubeconfig>;
  } catch {
    throw broken('it is not JSON');
  }
  for (const list of LISTS) {
    const given = kubeconfig[list] ?? [];
    if (!Array.isArray(given)) throw broken(`${list} is not a list`);
    const gone = edit.remove?.[list] ?? [];
    const entries: { name: string }[] = given.filter(({ name }) => !gone.includes(name));
    for (const entry of edit.set[list]) {
      const at = entries.findIndex(({ name }) => name === entry.name);
      if (at < 0) entries.push(entry);
      else entries[at] = entry;
    }
    kubeconfig = { ...kubeconfig, [list]: entries };
  }
  const current = kubeconfig['current-context'] || edit.currentContext;
  return `${JSON.stringify({ ...kubeconfig, ...(current ? { 'current-context': current } : {}) }, undefined, 2)}\n`;
}

function broken(why: string): ClientError {
  return new ClientError(`this is no kubeconfig: ${why}`, { code: 'ERR_KUBECONFIG' });
}
