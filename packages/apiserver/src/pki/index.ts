export { createCertificateAuthority, type KeyPair } from './certificate-authority.ts';
export { issueCertificate, type CertificateSubject } from './issue-certificate.ts';
export { newPrivateKey } from './keys.ts';
export {
  createSigningRequest,
  readSigningRequest,
  signRequest,
  type SigningRequest,
  type SigningRequestContent,
} from './signing-request.ts';
export { LEAF_MS, openServerPki, publicKeyPin, type ServerPki, type ServerPkiOptions } from './server-pki.ts';
