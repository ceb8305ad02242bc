import { failure } from '@asterism/machinery';
import type { AdmissionRequest, AdmissionStep } from '../registry/registry.ts';
import type { Authorizer } from './authorizer.ts';

const GROUP = 'certificates.k8s.io';
const RESOURCE = 'certificatesigningrequests';

/**
 * Who may approve or sign for a signer: besides the right to write the request's `approval` or `status`, the verb `approve`
 * or `sign` on the resource `signers` with the signer's name, or with `DOMAIN/*` for all of a domain.
 */
export function createSignerCheck(authorizer: Authorizer): AdmissionStep {
  return {
    phase: 'validate',
    admit: async (request) => {
      const { object, oldObject, operation, resource, subresource } = request;
      if (operation !== 'UPDATE' || resource.type.group !== GROUP || resource.type.resource !== RESOURCE) return object;
      const signer = (oldObject?.spec as { signerName?: string } | undefined)?.signerName ?? '';
      if (subresource === 'approval') await check(authorizer, request, 'approve', signer);
      const issues = certificateOf(object) !== certificateOf(oldObject);
      if (subresource === 'status' && issues) await check(authorizer, request, 'sign', signer);
      return object;
    },
  };
}

function certificateOf(object: AdmissionRequest['object']): unknown {
  return (object?.status as { certificate?: string } | undefined)?.certificate;
}

async function check(
  authorizer: Authorizer,
  { name, resource, user }: AdmissionRequest,
  verb: 'approve' | 'sign',
  signer: string,
): Promise<void> {
  const domain = `${signer.split('/')[0]}/*`;
  for (const signerName of [signer, domain]) {
    const attributes = {
      user,
      verb,
      group: GROUP,
      version: resource.type.version,
      resource: 'signers',
      name: signerName,
    };
    if ((await authorizer.authorize(attributes)).allowed) return;
  }
  const why = `user not permitted to ${verb} requests with signerName ${JSON.stringify(signer)}`;
  throw failure(403, `${RESOURCE}.${GROUP} ${JSON.stringify(name)} is forbidden: ${why}`, {
    details: { name, group: GROUP, kind: RESOURCE },
  });
}
