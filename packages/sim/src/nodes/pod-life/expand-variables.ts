/** Puts values in the place of `$(NAME)`. An unknown name stays as it is; `$$(NAME)` means `$(NAME)` itself. */
export function expandVariables(text: string, valueOf: (name: string) => string | undefined): string {
  return text.replaceAll(/\$\$|\$\(([^)]*)\)/g, (found: string, name: string | undefined) =>
    found === '$$' ? '$' : (valueOf(name ?? '') ?? found),
  );
}
