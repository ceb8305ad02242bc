import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import { MUTATIONS } from './mutations.ts';
import { RIGHTS_MUTATIONS } from './rights/rights-mutations.ts';

describe('a mutation is of the sources as they are', () => {
  for (const { name, replacements } of [...MUTATIONS, ...RIGHTS_MUTATIONS]) {
    test(name, () => {
      for (const { file, find } of replacements) {
        const source = readFileSync(new URL(`../../${file}`, import.meta.url), 'utf8');
        assert.equal(source.split(find).length - 1, 1, `${file} must have this once: ${find}`);
      }
    });
  }
});
