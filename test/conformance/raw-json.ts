/** Values whose JSON text is given (ECMAScript's JSON.rawJSON), which TypeScript does not know yet. */
export const rawJson = JSON as unknown as {
  rawJSON(text: string): unknown;
  isRawJSON(value: unknown): boolean;
};
