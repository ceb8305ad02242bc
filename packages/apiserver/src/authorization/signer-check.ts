import { deepEqual, failure } from '@asterism/machinery';
import type { Authorizer } from '../contract/authorizer.ts';
import type { AdmissionRequest, AdmissionStep } from '../contract/admission-step.ts';

const GROUP = 'certificates.k8s.io';
const RESOURCE = 'certificatesigningrequests';

/**
 * To approve a request or to sign it, a caller needs more than the right to write `approval` or `status`: the verb `approve` or
 * `sign` on the resource `signers`, with the signer's name or with `DOMAIN/*` for every signer of a domain.
 */
export function createSignerCheck(authorizer: Authorizer): AdmissionStep {
  return {
    phase: 'validate',
    admit: async (request) => {
      const { object, oldObject, operation, resource, subresource } = request;
      if (operation !== 'UPDATE' || resource.type.group !== GROUP || resource.type.resource !== RESOURCE) return object;
      const signer = (oldObject?.spec as { signerName?: string } | undefined)?.signerName ?? '';
      if (subresource === 'approval') await check(authorizer, request, 'approve', signer);
      if (subresource === 'status' && !deepEqual(signedPart(object), signedPart(oldObject)))
        await check(authorizer, request, 'sign', signer);
      return object;
    },
  };
}

/** Besides the certificate every condition: `Failed` ends a request, so it is the signer's to set. */
function signedPart(object: AdmissionRequest['object']): unknown {
  const { certificate, conditions } = (object?.status ?? {}) as { certificate?: string; conditions?: unknown[] };
  return { certificate: certificate || undefined, conditions: conditions ?? [] };
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
