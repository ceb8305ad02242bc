import {
  type FieldError,
  fieldForbidden,
  fieldNotSupported,
  fieldRequired,
  validateDns1123Subdomain,
} from '@asterism/machinery';
import { type Fields, listAt, textAt } from '../fields/draft-fields.ts';
import { parseIp, validateIp } from '../ip/ip-address.ts';
import { invalidValues } from '../validation/name-formats.ts';
import { invalidValue } from '../../registry/invalid-value.ts';

const IP_MODES = ['Proxy', 'VIP'];

/** The faults of `status.loadBalancer` of a Service (with `modes`) or of an Ingress. */
export function validateLoadBalancerStatus(
  status: Fields,
  old: Fields | undefined,
  { at, modes }: { at: string; modes: boolean },
): FieldError[] {
  const known = listAt(old, 'ingress').map((ingress) => textAt(ingress, 'ip'));
  return listAt(status, 'ingress').flatMap((ingress, index) => {
    const within = `${at}.ingress[${index}]`;
    const ip = textAt(ingress, 'ip');
    const hostname = textAt(ingress, 'hostname');
    const faults = ip === '' ? [] : validateIp(ip, `${within}.ip`, known);
    if (modes) faults.push(...validateIpMode(ingress, within));
    if (hostname === '') return faults;
    faults.push(...invalidValues(`${within}.hostname`, hostname, validateDns1123Subdomain(hostname)));
    if (parseIp(hostname))
      faults.push(invalidValue(`${within}.hostname`, hostname, 'must be a DNS name, not an IP address'));
    return faults;
  });
}

function validateIpMode(ingress: Fields, at: string): FieldError[] {
  const { ipMode } = ingress;
  const hasIp = textAt(ingress, 'ip') !== '';
  if (ipMode === undefined) return hasIp ? [fieldRequired(`${at}.ipMode`, 'must be specified when `ip` is set')] : [];
  const faults: FieldError[] = [];
  if (!hasIp) faults.push(fieldForbidden(`${at}.ipMode`, 'may not be specified when `ip` is not set'));
  if (typeof ipMode === 'string' && !IP_MODES.includes(ipMode))
    faults.push(fieldNotSupported(`${at}.ipMode`, ipMode, IP_MODES));
  return faults;
}
