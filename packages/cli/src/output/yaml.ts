import { hasControls } from '@asterism/machinery';
import { Document, type DocumentOptions, type SchemaOptions, visit } from 'yaml';

export interface YamlOptions {
  sortMapEntries?: boolean;
}

/**
 * A value as YAML. Texts with control characters are put in double quotes, where the terminal can escape each of them without changing
 * what the document says.
 */
export function toYaml(value: unknown, { sortMapEntries = false }: YamlOptions = {}): string {
  const options: DocumentOptions & SchemaOptions & { aliasDuplicateObjects: boolean } = {
    aliasDuplicateObjects: false,
    sortMapEntries,
  };
  const document = new Document(value, options);
  visit(document, {
    Scalar(_, scalar) {
      if (typeof scalar.value === 'string' && hasControls(scalar.value)) scalar.type = 'QUOTE_DOUBLE';
    },
  });
  return document.toString({ lineWidth: 0 });
}
