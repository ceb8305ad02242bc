import { type PlacementFacts, placementFactsFault, tokenFactsGroups } from '@asterism/fleet/join';
import { CommandError, EXIT } from '../exit-code.ts';
import { parseFacts } from '../service/agent-options.ts';

/** The flags by which an administrator gives labels, provider, region and zones to a Cluster. */
export interface FactFlags {
  label?: string[];
  provider?: string;
  region?: string;
  zones?: string;
}

/** Throws as wrong usage, and names the flag. */
export function parsePlacementFacts({ label = [], provider, region, zones }: FactFlags): PlacementFacts {
  const pairs = label.map((pair) => Object.entries(parseFacts({ labels: pair }, '--label').labels ?? {}));
  const labels: Record<string, string> = {};
  for (const [key, value] of pairs.flat()) {
    if (Object.hasOwn(labels, key))
      throw new CommandError(`--label: ${JSON.stringify(key)} is given twice`, EXIT.usage);
    labels[key] = value;
  }
  const facts = parseFacts({
    ...(provider === undefined ? {} : { provider }),
    ...(region === undefined ? {} : { region }),
    ...(zones === undefined ? {} : { zones }),
  });
  const given: PlacementFacts = { ...facts, ...(label.length > 0 ? { labels } : {}) };
  const fault = placementFactsFault(given) ?? tooLong(given);
  if (fault !== undefined) throw new CommandError(`--label, --provider, --region, --zones: ${fault}`, EXIT.usage);
  return given;
}

function tooLong(facts: PlacementFacts): string | undefined {
  try {
    tokenFactsGroups(facts);
    return undefined;
  } catch (error) {
    return (error as Error).message;
  }
}
