/**
 * The files that the words choose; all of them without a word. A capability chooses its own files, and another word each file whose path
 * contains it. Throws for a word that chooses nothing.
 *
 * @param {readonly string[]} files - their paths from the root of the repository
 * @param {readonly string[]} words
 */
export function chooseTests(files, words) {
  const capabilities = new Set(files.map(capabilityOf).filter((capability) => capability !== ''));
  const choices = words.map((word) => {
    const chosen = files.filter((file) => (capabilities.has(word) ? capabilityOf(file) === word : file.includes(word)));
    if (chosen.length > 0) return chosen;
    const known = capabilities.size > 0 ? `; the capabilities are ${[...capabilities].sort().join(', ')}` : '';
    throw new Error(`no path of a test contains "${word}"${known}`);
  });
  return words.length === 0 ? [...files] : files.filter((file) => choices.some((chosen) => chosen.includes(file)));
}

/**
 * `place` for `test/e2e/place/x.test.ts`, `docs` for `test/docs/x.test.ts`; empty for a unit test.
 *
 * @param {string} file
 */
export function capabilityOf(file) {
  return /^test\/(?:e2e\/([^/]+)|(packages|docs))\//.exec(file)?.slice(1).find(Boolean) ?? '';
}
