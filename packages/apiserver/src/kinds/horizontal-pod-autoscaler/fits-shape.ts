import { isJsonObject, isQuantity } from '@asterism/machinery';

/** What a value of JSON has to be so that Go decodes it. Fields that nobody knows may be anything. */
export type Shape = 'text' | 'integer' | 'quantity' | { list: Shape } | { map: Shape } | { fields: ShapeFields };

type ShapeFields = Readonly<Record<string, Shape>>;

/** Whether a value can be decoded as this; nothing, and null, always can. */
export function fitsShape(value: unknown, shape: Shape): boolean {
  if (value === undefined || value === null) return true;
  if (shape === 'text') return typeof value === 'string';
  if (shape === 'integer') return Number.isInteger(value);
  if (shape === 'quantity') return isQuantity(value);
  if ('list' in shape) return Array.isArray(value) && value.every((item) => fitsShape(item, shape.list));
  if (!isJsonObject(value)) return false;
  if ('map' in shape) return Object.values(value).every((item) => fitsShape(item, shape.map));
  return Object.entries(shape.fields).every(([key, field]) => fitsShape(value[key], field));
}

export const LABEL_SELECTOR: Shape = {
  fields: {
    matchLabels: { map: 'text' },
    matchExpressions: { list: { fields: { key: 'text', operator: 'text', values: { list: 'text' } } } },
  },
};
