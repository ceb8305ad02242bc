import type { Client, DiscoveredResource } from '@asterism/client';
import { isNotFound } from '@asterism/machinery';
import { CommandError, EXIT } from './exit-code.ts';

export interface ResourceArgument {
  resource: DiscoveredResource;
  /** Empty: all of them. */
  names: string[];
}

/** Throws as wrong usage where both a name and a selector say what is meant: one of them would go unheard. */
export function refuseNamesWithSelector(
  words: readonly string[],
  { selector, fieldSelector }: { selector?: string; fieldSelector?: string },
): void {
  const flag = selector ? '-l' : fieldSelector ? '--field-selector' : undefined;
  if (flag === undefined || (words.length <= 1 && !words.some((word) => word.includes('/')))) return;
  throw new CommandError(
    `a name and ${flag} do not go together: name the objects, or leave the names out and choose by ${flag}`,
    EXIT.usage,
  );
}

/**
 * Reads what kubectl reads: `TYPE`, `TYPE NAME…`, `TYPE,TYPE`, and any number of `TYPE/NAME`. A type is whatever this server
 * calls it, or a category of types, as `all`.
 */
export async function parseResourceArguments(words: readonly string[], client: Client): Promise<ResourceArgument[]> {
  const [first, ...rest] = words;
  if (first === undefined)
    throw new CommandError('which resource? for example: pods, deploy/web, clusters', EXIT.usage);
  const find = (word: string) => client.discovery.find(word);
  if (words.some((word) => word.includes('/'))) {
    return await Promise.all(
      words.map(async (word) => {
        const [type = '', name = '', ...more] = word.split('/');
        if (type === '' || name === '' || more.length > 0) {
          throw new CommandError(`${JSON.stringify(word)} is not TYPE/NAME, as the others are`, EXIT.usage);
        }
        return { resource: await find(type), names: [name] };
      }),
    );
  }
  const types = first.split(',').filter((type) => type !== '');
  const resources = await Promise.all(types.map((type) => findAll(client, type)));
  return resources.flat().map((resource) => ({ resource, names: rest }));
}

/** The type of that name, or else every type of the category of that name. */
async function findAll(client: Client, word: string): Promise<DiscoveredResource[]> {
  try {
    return [await client.discovery.find(word)];
  } catch (error) {
    if (!isNotFound(error)) throw error;
    const members = (await client.discovery.resources()).filter(
      ({ categories, preferred, verbs }) => preferred && verbs.includes('list') && categories.includes(word),
    );
    if (members.length === 0) throw error;
    return members;
  }
}

/** The same where exactly one type makes sense. */
export async function parseResourceArgument(words: readonly string[], client: Client): Promise<ResourceArgument> {
  const [only, ...more] = await parseResourceArguments(words, client);
  if (only === undefined || more.length > 0) throw new CommandError('one type at a time here', EXIT.usage);
  return only;
}
