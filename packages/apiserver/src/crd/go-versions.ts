import { goSchemaProps } from '@asterism/machinery';
import type { DefinitionVersion } from './custom-resource-definition.ts';

/** Versions as upstream's messages show them: Go's JSON of the internal type, which has no JSON names. */
export function goVersions(versions: readonly DefinitionVersion[]): string {
  return JSON.stringify(versions.map(goVersion));
}

function goVersion(version: DefinitionVersion): object {
  const { name, served, storage, deprecated, deprecationWarning, schema, subresources } = version;
  const { additionalPrinterColumns: columns, selectableFields: fields } = version;
  return {
    Name: name ?? '',
    Served: served ?? false,
    Storage: storage ?? false,
    Deprecated: deprecated ?? false,
    DeprecationWarning: deprecationWarning ?? null,
    Schema: schema ? { OpenAPIV3Schema: schema.openAPIV3Schema ? goSchemaProps(schema.openAPIV3Schema) : null } : null,
    Subresources: subresources ? goSubresources(subresources) : null,
    AdditionalPrinterColumns: columns?.length
      ? columns.map(({ name: title, type, format, description, priority, jsonPath }) => ({
          Name: title ?? '',
          Type: type ?? '',
          Format: format ?? '',
          Description: description ?? '',
          Priority: priority ?? 0,
          JSONPath: jsonPath ?? '',
        }))
      : null,
    SelectableFields: fields?.length ? fields.map(({ jsonPath }) => ({ JSONPath: jsonPath })) : null,
  };
}

function goSubresources({ status, scale }: NonNullable<DefinitionVersion['subresources']>): object {
  return {
    Status: status ? {} : null,
    Scale: scale
      ? {
          SpecReplicasPath: scale.specReplicasPath ?? '',
          StatusReplicasPath: scale.statusReplicasPath ?? '',
          LabelSelectorPath: scale.labelSelectorPath ?? null,
        }
      : null,
  };
}
