import { type FieldError, fieldNotSupported, type StructuralSchema } from '@asterism/machinery';

/**
 * Finds the faults of a built-in object that its schema alone can tell: a text that is none of those allowed. (What else
 * there is to check of built-in kinds is code upstream, and so in strategies here.) An empty text is a field that is not set.
 */
export class EnumCheck {
  /** Which schemas have an enum somewhere below, so that a walk goes only where something can be found. */
  readonly #leading = new WeakMap<StructuralSchema, boolean>();

  faultsOf(value: unknown, schema: StructuralSchema): FieldError[] {
    const errors: FieldError[] = [];
    this.#walk(value, schema, '', errors);
    return errors;
  }

  #walk(value: unknown, schema: StructuralSchema, path: string, errors: FieldError[]): void {
    if (typeof value === 'string') {
      const allowed = schema.source.enum as readonly string[] | undefined;
      if (value !== '' && allowed && !allowed.includes(value)) errors.push(fieldNotSupported(path, value, allowed));
    } else if (Array.isArray(value)) {
      const { items } = schema;
      if (!items || !this.#leads(items)) return;
      for (const [index, item] of value.entries()) this.#walk(item, items, `${path}[${index}]`, errors);
    } else if (typeof value === 'object' && value !== null) {
      for (const key of Object.keys(value)) {
        const field = schema.field(key);
        if (!field || !this.#leads(field)) continue;
        this.#walk((value as Record<string, unknown>)[key], field, path === '' ? key : `${path}.${key}`, errors);
      }
    }
  }

  #leads(schema: StructuralSchema): boolean {
    const known = this.#leading.get(schema);
    if (known !== undefined) return known;
    // A schema within itself (of CustomResourceDefinitions alone) is walked: the answer for it is not known yet.
    this.#leading.set(schema, true);
    const children = [schema.items, schema.additional, ...schema.fields.values()];
    const leads = schema.source.enum !== undefined || children.some((child) => child && this.#leads(child));
    this.#leading.set(schema, leads);
    return leads;
  }
}
