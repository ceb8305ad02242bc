import { type Client, readBody } from '@asterism/client';
import { parseRequestCounts, sumCounts } from '../../../bench/place/request-counts.ts';

/** Kinds that a member's own controllers neither patch nor delete. */
const PLACED_ONLY = new Set(['configmaps', 'services']);

/** Whether an object is of a kind whose writes {@link requestsForPlaced} counts. */
export function isPlacedOnly(key: string): boolean {
  return /^(ConfigMap|Service) /.test(key);
}

/** How many requests the members have taken that apply or delete ConfigMaps and Services, whether that changed anything or not. */
export async function requestsForPlaced(members: readonly { client: Client }[]): Promise<number> {
  const counts = members.map(async ({ client }) => {
    const { body } = await client.request({ method: 'GET', path: '/metrics' });
    const all = parseRequestCounts((await readBody(body, 'a member')).toString());
    return sumCounts(
      all.filter(
        ({ verb, resource, code }) =>
          (verb === 'PATCH' || verb === 'DELETE') && PLACED_ONLY.has(resource) && code < 300,
      ),
    );
  });
  return (await Promise.all(counts)).reduce((sum, count) => sum + count, 0);
}
