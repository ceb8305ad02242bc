import { Choices } from '../choices.ts';
import type { Fields } from '../objects/generated-kind.ts';
import { generatedKind } from '../objects/generated-kinds.ts';
import { caseName, type Requests, requestsTo } from './requests.ts';

/** A case of verbs with ConfigMaps. */
export interface MapCase {
  name: string;
  choices: Choices;
  to: Requests;
}

export function mapCase(what: string, seed: number): MapCase {
  const name = caseName('verbs', what, seed);
  return { name, choices: new Choices(seed, name), to: requestsTo(generatedKind('ConfigMap'), name) };
}

/** A uid that no object has. */
export const NOBODY = '00000000-0000-4000-8000-000000000000';

/** A ConfigMap. */
export function map(metadata: Fields, more: Fields = {}): Fields {
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata, ...more };
}
