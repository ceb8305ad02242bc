import {
  compileJsonPath,
  type FieldError,
  forbidden,
  type KubeObject,
  type StructuralSchema,
  validateSchema,
  validateStatusSchema,
} from '@asterism/machinery';
import type { DefinitionNames, DefinitionVersion } from './custom-resource-definition.ts';
import { validateScaleSpec, validateScaleStatus } from './validate-scale.ts';
import type { Strategy } from '../contract/strategy.ts';

export interface CustomResourceStrategyOptions {
  group: string;
  names: DefinitionNames;
  structural(): StructuralSchema | undefined;
  /** Asked at each create: nothing is created any more while the definition is being deleted. */
  isTerminating(): boolean;
}

/** How the objects of one version of a definition are written. */
export function customResourceStrategy(version: DefinitionVersion, options: CustomResourceStrategyOptions): Strategy {
  const { group, names, structural } = options;
  const scale = version.subresources?.scale;
  const scaleFaults = (object: KubeObject): FieldError[] =>
    scale ? [...validateScaleSpec(object, scale), ...validateScaleStatus(object, scale)] : [];
  const validate = (object: KubeObject, old?: KubeObject): FieldError[] => {
    const others = scaleFaults(object);
    const schema = structural();
    return schema ? validateSchema(object, schema, { others, ...(old ? { old } : {}) }) : others;
  };
  return {
    generation: 'spec',
    requiresResourceVersion: true,
    metadataChecks: 2,
    selectableFields: selectableFieldsOf(version),
    unknownFieldMessage: (path) => `field label not supported: ${path}`,
    validateCreate: (object) => validate(object),
    validateUpdate: (object, old) => validate(object, old),
    validateStatus(object, old) {
      const others = scale ? validateScaleStatus(object, scale) : [];
      const schema = structural();
      return schema ? validateStatusSchema(object, schema, { old, others }) : others;
    },
    requireCreatable(name) {
      if (!options.isTerminating()) return;
      const why = 'create not allowed while custom resource definition is terminating';
      throw forbidden({ group, resource: names.plural ?? '' }, name, why);
    },
  };
}

function selectableFieldsOf({ selectableFields = [] }: DefinitionVersion): NonNullable<Strategy['selectableFields']> {
  const fields: Record<string, (object: KubeObject) => string> = {};
  for (const { jsonPath } of selectableFields) {
    const read = compileJsonPath(jsonPath);
    fields[jsonPath.slice(1)] = (object) => {
      const [value] = read(object);
      return typeof value === 'string' ? value : value === undefined || value === null ? '' : JSON.stringify(value);
    };
  }
  return fields;
}
