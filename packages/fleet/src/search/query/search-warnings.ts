import { formatGroupResource, type GroupVersionResource } from '@asterism/machinery';
import type { SearchCatalogue } from '../search-catalogue.ts';
import type { GrantedScope } from './authorize-search.ts';

const NAMED_AT_MOST = 10;

/** What an answer does not have in it, or has of old, as values of `Warning` headers (RFC 7234, 5.5). kubectl prints them. */
export function searchWarnings(
  catalogue: SearchCatalogue,
  type: GroupVersionResource,
  { asked, granted }: { asked: readonly string[] | undefined; granted: GrantedScope },
): string[] {
  const searched = [...(granted.clusters ?? catalogue.clusters())];
  const warnings: string[] = [];
  if (granted.leftOut === 1) warnings.push('1 cluster was left out: you may not search it');
  if (granted.leftOut > 1) warnings.push(`${granted.leftOut} clusters were left out: you may not search them`);
  const missing = catalogue.notIndexing(type, searched);
  const isMissed = asked ? missing.length > 0 : missing.length === searched.length;
  if (isMissed) {
    warnings.push(`${formatGroupResource(type)} in ${type.version} are not indexed of ${listOf(missing)}`);
  }
  const indexed = searched.filter((name) => !missing.includes(name));
  const old = catalogue.notFollowed(indexed);
  const missed = indexed.map((name) => ({ name, ...catalogue.get(name)?.notKept?.(type) }));
  const over = missed.filter(({ overShare }) => overShare).map(({ name }) => name);
  if (over.length > 0) {
    warnings.push(`what is shown of ${listOf(over)} is not complete: more objects than its share of the search store`);
  }
  for (const { name, skipped = [] } of missed) {
    if (skipped.length > 0)
      warnings.push(`${name} has objects that are nested too deeply to be kept: ${listOf(skipped)}`);
  }
  if (old.length > 0) warnings.push(`what is shown of ${listOf(old)} may be old: not followed at the moment`);
  return warnings.map((text) => `299 - "search: ${text.replaceAll(/[^\x20-\x7e]|["\\]/g, '?')}"`);
}

function listOf(names: readonly string[]): string {
  if (names.length === 0) return 'any cluster';
  const rest = names.length - NAMED_AT_MOST;
  return names.slice(0, NAMED_AT_MOST).join(', ') + (rest > 0 ? ` and ${rest} more` : '');
}
