import type { KubeObject, OpenApiSchema } from '@asterism/machinery';
import type { ScalePaths } from '../registry/served-version.ts';
import type { PrinterColumn } from '../contract/served-resource.ts';

/** A CustomResourceDefinition (`apiextensions.k8s.io/v1`) as far as a server reads it; any field may be missing in a draft. */
export interface CustomResourceDefinition extends KubeObject {
  spec?: {
    group?: string;
    scope?: string;
    names?: DefinitionNames;
    versions?: DefinitionVersion[] | null;
    conversion?: DefinitionConversion;
    preserveUnknownFields?: boolean;
  };
  status?: {
    conditions?: DefinitionCondition[] | null;
    acceptedNames?: DefinitionNames;
    storedVersions?: string[] | null;
  };
}

export interface DefinitionConversion {
  strategy?: string;
  webhook?: {
    clientConfig?: {
      url?: string;
      service?: { namespace?: string; name?: string; path?: string; port?: number };
      caBundle?: string;
    };
    conversionReviewVersions?: string[] | null;
  };
}

export interface DefinitionNames {
  plural?: string;
  singular?: string;
  kind?: string;
  listKind?: string;
  shortNames?: string[];
  categories?: string[];
}

export interface DefinitionVersion {
  name?: string;
  served?: boolean;
  storage?: boolean;
  deprecated?: boolean;
  deprecationWarning?: string;
  schema?: { openAPIV3Schema?: OpenApiSchema };
  subresources?: { status?: object; scale?: ScalePaths };
  additionalPrinterColumns?: PrinterColumn[];
  selectableFields?: { jsonPath: string }[];
}

export interface DefinitionCondition {
  type: string;
  status: 'True' | 'False';
  lastTransitionTime?: string;
  reason: string;
  message: string;
}

/** Holds a definition back until the last of its custom resources is gone. */
export const CLEANUP_FINALIZER = 'customresourcecleanup.apiextensions.k8s.io';
export const DEFINITIONS = 'customresourcedefinitions.apiextensions.k8s.io';

export function isConditionTrue(definition: CustomResourceDefinition, type: string): boolean {
  return definition.status?.conditions?.some((each) => each.type === type && each.status === 'True') ?? false;
}

/** The conditions with this one set; its time stays where its status does. */
export function withCondition(
  conditions: readonly DefinitionCondition[],
  condition: DefinitionCondition,
): DefinitionCondition[] {
  const index = conditions.findIndex(({ type }) => type === condition.type);
  const before = conditions[index];
  if (!before) return [...conditions, condition];
  const { lastTransitionTime } = before.status === condition.status ? before : condition;
  return conditions.with(index, { ...condition, ...(lastTransitionTime ? { lastTransitionTime } : {}) });
}
