import { validateDns1123Label, validateDns1123Subdomain } from '@asterism/machinery';
import type { Faults } from '../validation/faults.ts';
import type { FieldPath } from '../validation/field-path.ts';

/** A signer's name: a domain with at least two labels, a slash, and a path of labels. */
export function validateSignerName(name: string, at: FieldPath, faults: Faults): void {
  if (name === '') return faults.required(at);
  const segments = name.split('/');
  const [domain = '', path = ''] = segments;
  if (segments.length !== 2) {
    return faults.invalid(at, name, "must be a fully qualified domain and path of the form 'example.com/signer-name'");
  }
  const labels = domain.split('.');
  if (labels.length < 2)
    return faults.invalid(at, name, 'should be a domain with at least two segments separated by dots');
  for (const label of labels) {
    const wrong = validateDns1123Label(label);
    if (wrong.length > 0) faults.invalid(at, domain, `validating label ${JSON.stringify(label)}: ${wrong.join(',')}`);
  }
  for (const part of path.split('.')) {
    const wrong = validateDns1123Subdomain(part);
    if (wrong.length > 0) faults.invalid(at, path, `validating label ${JSON.stringify(part)}: ${wrong.join(',')}`);
  }
}
