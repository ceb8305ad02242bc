import type { HostAlias, PodDNSConfig, PodSpec } from '@asterism/machinery';
import type { Faults } from '../validation/faults.ts';
import type { FieldPath } from '../validation/field-path.ts';
import { validateIp } from '../ip/ip-address.ts';
import { validateDnsLabel, validateSubdomain } from '../validation/validate-text.ts';

const MOST_NAMESERVERS = 3;
const MOST_SEARCHES = 32;
const MOST_SEARCH_CHARACTERS = 2048;
const SEARCH_LABEL = '_?[a-z0-9]([-_a-z0-9]*[a-z0-9])?';

export function validateDnsConfig(
  config: PodDNSConfig | undefined,
  policy: string | undefined,
  at: FieldPath,
  faults: Faults,
): void {
  if (policy === 'None') {
    if (!config) return faults.required(at, 'must provide `dnsConfig` when `dnsPolicy` is None');
    if (!config.nameservers?.length) {
      const detail = 'must provide at least one DNS nameserver when `dnsPolicy` is None';
      return faults.required(at.child('nameservers'), detail);
    }
  }
  if (!config) return;
  const { nameservers = [], searches = [], options = [] } = config;
  if (nameservers.length > MOST_NAMESERVERS) {
    faults.invalid(at.child('nameservers'), nameservers, `must not have more than ${MOST_NAMESERVERS} nameservers`);
  }
  for (const [index, server] of nameservers.entries()) {
    validateIpAddress(server, at.child('nameservers').index(index), faults);
  }
  if (searches.length > MOST_SEARCHES) {
    faults.invalid(at.child('searches'), searches, `must not have more than ${MOST_SEARCHES} search paths`);
  }
  if (searches.join(' ').length > MOST_SEARCH_CHARACTERS) {
    const detail = `must not have more than ${MOST_SEARCH_CHARACTERS} characters (including spaces) in the search list`;
    faults.invalid(at.child('searches'), searches, detail);
  }
  for (const [index, search] of searches.entries()) {
    if (search !== '.') validateSearch(search.replace(/\.$/, ''), at.child('searches').index(index), faults);
  }
  for (const [index, { name }] of options.entries()) {
    if (!name) faults.required(at.child('options').index(index), 'must not be empty');
  }
}

const SEARCH = `${SEARCH_LABEL}(\\.${SEARCH_LABEL})*`;

function validateSearch(search: string, at: FieldPath, faults: Faults): void {
  if (search.length > 253) faults.invalid(at, search, 'must be no more than 253 characters');
  if (new RegExp(`^${SEARCH}$`).test(search)) return;
  const rule =
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '_', '-' or '.', and must start and end with an alphanumeric character";
  faults.invalid(at, search, `${rule} (e.g. 'example.com', regex used for validation is '${SEARCH}')`);
}

function validateIpAddress(text: string, at: FieldPath, faults: Faults): void {
  faults.addAll(validateIp(text, at.toString()));
}

export function validateHostAliases(aliases: readonly HostAlias[], at: FieldPath, faults: Faults): void {
  for (const [index, { ip = '', hostnames }] of aliases.entries()) {
    validateIpAddress(ip, at.index(index).child('ip'), faults);
    for (const [each, name] of (hostnames ?? []).entries()) {
      validateSubdomain(name, at.index(index).child('hostnames').index(each), faults);
    }
  }
}

export function validateHostNames(spec: PodSpec, at: FieldPath, faults: Faults): void {
  const { hostname, subdomain } = spec;
  if (hostname) validateDnsLabel(hostname, at.child('hostname'), faults);
  if (subdomain) validateDnsLabel(subdomain, at.child('subdomain'), faults);
}

export function validateHostnameOverride(spec: PodSpec, at: FieldPath, faults: Faults): void {
  const { hostnameOverride: name, setHostnameAsFQDN, hostNetwork } = spec;
  if (name === undefined) return;
  const place = at.child('hostnameOverride');
  if (setHostnameAsFQDN) faults.forbidden(place, 'may not be specified when setHostnameAsFQDN is true');
  if (hostNetwork) faults.forbidden(place, 'may not be specified when hostNetwork is true');
  if (name.length > 64) faults.tooLong(place, 64);
  validateSubdomain(name, place, faults);
}

/** With the network of its node, a pod's ports are the node's. A template may leave that to the pod made of it. */
export function validateHostNetworkPorts(spec: PodSpec, isPod: boolean, at: FieldPath, faults: Faults): void {
  if (!spec.hostNetwork) return;
  for (const [index, { ports }] of spec.containers.entries()) {
    for (const [each, { hostPort = 0, containerPort = 0 }] of (ports ?? []).entries()) {
      if (hostPort === containerPort || (hostPort === 0 && !isPod)) continue;
      const place = at.child('containers').index(index).child('ports').index(each).child('hostPort');
      faults.invalid(place, hostPort, 'must match `containerPort` when `hostNetwork` is true');
    }
  }
}
