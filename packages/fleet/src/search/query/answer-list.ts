import type { ApiResponse } from '@asterism/apiserver';
import type { ObjectForm } from './object-form.ts';
import type { SearchPage } from './search-pages.ts';

const SEPARATOR = Buffer.from(',');

/**
 * A list as bytes, put together from the bytes of its elements, a page in memory at a time. The list's metadata stands behind its
 * elements: only then is known how it goes on. Rejects with what the first page rejects with; a failure after that cuts the
 * answer off.
 */
export async function answerList(pages: AsyncGenerator<SearchPage>, form: ObjectForm): Promise<ApiResponse> {
  const { value: first } = await pages.next();
  const bytes = pieces(first, pages, form);
  if (!first || first.end) return answerJson(Buffer.concat(await Array.fromAsync(bytes)));
  return { status: 200, headers: { 'content-type': 'application/json' }, body: bytes };
}

export function answerJson(body: Uint8Array, contentType = 'application/json'): ApiResponse {
  return { status: 200, headers: { 'content-type': contentType, 'content-length': String(body.length) }, body };
}

async function* pieces(
  first: SearchPage | undefined,
  rest: AsyncGenerator<SearchPage>,
  { head, element }: ObjectForm,
): AsyncGenerator<Uint8Array> {
  yield Buffer.from(head);
  let isFirst = true;
  for (let page = first; page; page = (await rest.next()).value) {
    const parts: Uint8Array[] = [];
    for (const row of page.rows) {
      if (!isFirst) parts.push(SEPARATOR);
      isFirst = false;
      parts.push(...element(row));
    }
    yield Buffer.concat(parts);
    if (page.end) yield Buffer.from(`],"metadata":${JSON.stringify(page.end)}}\n`);
  }
}
