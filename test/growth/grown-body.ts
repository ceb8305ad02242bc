type Json = null | boolean | number | string | Json[] | { [key: string]: Json };

const MARK = '@grown@';

/** The JSON text of `base` with `value`, which is JSON already, at `path`. What is missing on the way is made. */
export function grownBody(base: object, path: readonly string[], value: string): string {
  const copy = structuredClone(base) as { [key: string]: Json };
  let holder: Json = copy;
  for (const [index, step] of path.entries()) {
    const next = path[index + 1];
    const made: Json = next === undefined ? MARK : next === '0' ? [] : {};
    holder = enter(holder, step, made, next === undefined);
  }
  // A function, as a replacement text has signs of its own.
  return JSON.stringify(copy).replace(JSON.stringify(MARK), () => value);
}

function enter(holder: Json, step: string, made: Json, replace: boolean): Json {
  if (Array.isArray(holder)) {
    if (replace || typeof holder[0] !== 'object' || holder[0] === null) holder[0] = made;
    return holder[0] ?? null;
  }
  const fields = holder as { [key: string]: Json };
  const present = fields[step];
  if (replace || typeof present !== 'object' || present === null) fields[step] = made;
  return fields[step] ?? null;
}
