import { isIP } from 'node:net';
import { checkAdmissionPlugins } from '../admission-plugins/plugin-names.ts';
import type { ApiServerOptions } from './api-server-options.ts';
import { checkOidcIssuers } from '../authentication/oidc-issuer.ts';

/** Ways to know callers, or to give them credentials, of a server that does so itself. */
const OWN_IDENTITIES = [
  'clientCa',
  'staticTokens',
  'tokenAuthenticators',
  'bootstrapTokens',
  'oidc',
  'serviceAccounts',
  'signer',
  'authorization',
] as const;

/** What needs a server's own kinds. */
const OF_OWN_KINDS = [
  'bootstrapTokens',
  'serviceAccounts',
  'signer',
  'connects',
  'controllers',
  'admissionPlugins',
  'checks',
  'kubernetesService',
  'advertiseAddress',
  'kubelet',
  'podNetwork',
  'aggregation',
] as const;

/**
 * Throws a `TypeError` where options contradict each other. A server that delegates must have no identities of its own: where it
 * speaks to the other one for its callers, a name that only this one gave would be taken for that one's.
 */
export function checkOptions(options: ApiServerOptions): void {
  const { authorization = 'RBAC', delegation, kinds = 'builtin', listen, storage, tls } = options;
  if (listen !== undefined && tls === undefined) {
    throw new TypeError('an API server that listens needs `tls`: a certificate and its key');
  }
  checkOidcIssuers(options.oidc ?? []);
  const { advertiseAddress = 'none' } = options;
  if (advertiseAddress !== 'none' && isIP(advertiseAddress) === 0) {
    throw new TypeError(`\`advertiseAddress\` is an IP address or "none", not ${advertiseAddress}`);
  }
  checkAdmissionPlugins(options.admissionPlugins ?? {});
  const { kubelet } = options;
  if (kubelet !== undefined && kubelet.ca === undefined && kubelet.insecureSkipTlsVerify !== true) {
    throw new TypeError('an API server with `kubelet` needs its `ca`, by which kubelets are known');
  }
  if (options.audit !== undefined && options.audit.log === undefined && options.audit.sink === undefined) {
    throw new TypeError('an API server with `audit` needs somewhere to write to: `log`, `sink` or both');
  }
  if (delegation !== undefined) refuse(options, OWN_IDENTITIES, 'an API server with `delegation`');
  if (kinds === 'builtin') {
    if (storage === undefined) throw new TypeError('an API server needs `storage`, unless its `kinds` are "none"');
    return;
  }
  refuse(options, OF_OWN_KINDS, 'an API server whose `kinds` are "none"');
  if (delegation === undefined && authorization === 'RBAC') {
    throw new TypeError('an API server whose `kinds` are "none" holds no roles: it needs `delegation`');
  }
}

function refuse(options: ApiServerOptions, names: readonly (keyof ApiServerOptions)[], who: string): void {
  const given = names.filter((name) => options[name] !== undefined && options[name] !== false);
  if (given.length > 0) throw new TypeError(`${who} takes no ${given.map((name) => `\`${name}\``).join(', ')}`);
}
