import type { CelType } from '../typing/cel-type.ts';
import {
  BOOL,
  BYTES,
  DOUBLE,
  DURATION,
  DYN,
  INT,
  listOf,
  mapOf,
  NULL,
  opaqueType,
  STRING,
  TIMESTAMP,
  typeOf,
  UINT,
} from '../typing/cel-type.ts';
import { FunctionLibrary, type Functions } from '../typing/overload.ts';
import { defineAddresses } from './addresses.ts';
import { defineAuthorizer } from './authorizer.ts';
import { defineConversions } from './conversions.ts';
import { defineFormat } from './format-text.ts';
import { defineLists } from './lists.ts';
import { defineNamedFormats } from './named-formats.ts';
import { defineOperators } from './operators.ts';
import { defineOptionals } from './optionals.ts';
import { defineQuantities } from './quantity.ts';
import { defineRegex } from './regex.ts';
import { defineSemver } from './semver.ts';
import { defineStrings } from './strings.ts';
import { defineTimes } from './times.ts';
import { defineUrls } from './urls.ts';

/**
 * The functions that expressions of Kubernetes 1.36 may use.
 * https://kubernetes.io/docs/reference/using-api/cel/#cel-options-language-features-and-libraries
 */
export function createLibrary(): Functions {
  const library = new FunctionLibrary();
  for (const define of [
    defineOperators,
    defineConversions,
    defineTimes,
    defineStrings,
    defineFormat,
    defineLists,
    defineRegex,
    defineOptionals,
    defineQuantities,
    defineSemver,
    defineAddresses,
    defineUrls,
    defineNamedFormats,
    defineAuthorizer,
  ]) {
    define(library);
  }
  return library.functions;
}

/** The types that expressions know by name. */
export const NAMED_TYPES: ReadonlyMap<string, CelType> = new Map<string, CelType>([
  ['bool', BOOL],
  ['int', INT],
  ['uint', UINT],
  ['double', DOUBLE],
  ['string', STRING],
  ['bytes', BYTES],
  ['null_type', NULL],
  ['list', listOf(DYN)],
  ['map', mapOf(DYN, DYN)],
  ['type', typeOf()],
  ['google.protobuf.Duration', DURATION],
  ['google.protobuf.Timestamp', TIMESTAMP],
  ...[
    'optional_type',
    'net.IP',
    'net.CIDR',
    'kubernetes.Quantity',
    'kubernetes.Semver',
    'kubernetes.URL',
    'kubernetes.NamedFormat',
  ].map((name): [string, CelType] => [name, opaqueType(name)]),
]);
