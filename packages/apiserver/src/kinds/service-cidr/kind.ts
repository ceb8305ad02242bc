import { type FieldError, fieldRequired } from '@asterism/machinery';
import { type Fields, optionalFields, textsAt } from '../fields/draft-fields.ts';
import { parseCidr, validateCanonicalCidr } from '../ip/ip-address.ts';
import { invalidValue } from '../../registry/invalid-value.ts';
import type { Kind } from '../../contract/kind.ts';

const AT = 'spec.cidrs';
const IMMUTABLE = 'field is immutable';

export const serviceCidrKind: Kind = {
  groupResource: 'servicecidrs.networking.k8s.io',
  strategy: {
    validateCreate: (object) => validateCidrs(optionalFields(object, 'spec')),

    // One network may get a second one, of the other family.
    validateUpdate(object, old) {
      const now = textsAt(optionalFields(object, 'spec'), 'cidrs');
      const was = textsAt(optionalFields(old, 'spec'), 'cidrs');
      if (now.length === was.length)
        return now.flatMap((cidr, index) =>
          cidr === was[index] ? [] : [invalidValue(`${AT}[${index}]`, cidr, IMMUTABLE)],
        );
      if (was.length !== 1 || now.length !== 2) return [invalidValue(AT, now.length > 0 ? now : null, IMMUTABLE)];
      const faults = now[0] === was[0] ? [] : [invalidValue(`${AT}[0]`, now[0], IMMUTABLE)];
      return [...faults, ...validateCidrs(optionalFields(object, 'spec'))];
    },
  },
};

function validateCidrs(spec: Fields | undefined): FieldError[] {
  const cidrs = textsAt(spec, 'cidrs');
  if (cidrs.length === 0) return [fieldRequired(AT, 'at least one CIDR required')];
  if (cidrs.length > 2) return [invalidValue(AT, { CIDRs: cidrs }, 'may only hold up to 2 values')];
  const faults = cidrs.flatMap((cidr, index) => validateCanonicalCidr(cidr, `${AT}[${index}]`));
  const families = cidrs.map((cidr) => parseCidr(cidr)?.address.family);
  if (cidrs.length === 2 && families[0] !== undefined && families[0] === families[1]) {
    const detail = 'may specify no more than one IP for each IP family, i.e 192.168.0.0/24 and 2001:db8::/64';
    faults.push(invalidValue(AT, cidrs, detail));
  }
  return faults;
}
