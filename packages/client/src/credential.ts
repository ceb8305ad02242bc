import { readFile } from 'node:fs/promises';
import type { Clock } from './clock.ts';
import { ClientError } from './client-error.ts';
import type { Connection } from './connection.ts';
import type { ExecCredentialCache } from './kubeconfig/exec-credential.ts';

/** What a request carries: a bearer token, or a certificate at the connection below it. */
export interface Identity {
  token?: string;
  cert?: string;
  key?: string;
}

/** Gives the identity of a connection, as of now. */
export interface CredentialSource {
  /** Where it is always the same, and need not be waited for. */
  readonly known?: Identity;
  current(): Promise<Identity>;
  /** The server answered 401 to `identity`: do not give it again if there is a way to a newer one. */
  refused(identity: Identity): Promise<void>;
}

/** A token file is read again after this time, as client-go does: the kubelet renews it long before it expires. */
const TOKEN_FILE_MS = 60_000;

export function createCredentialSource(
  connection: Connection,
  clock: Clock,
  execCredentials: ExecCredentialCache,
): CredentialSource {
  const { credential } = connection;
  switch (credential.kind) {
    case 'none':
      return fixed({});
    case 'token':
      return fixed({ token: credential.token });
    case 'certificate':
      return fixed({ cert: credential.cert, key: credential.key });
    case 'tokenFile':
      return tokenFile(credential.path, clock);
    case 'exec':
      return {
        current: () => execCredentials.get(credential.exec, connection),
        refused: (identity) => execCredentials.drop(credential.exec, connection, identity),
      };
  }
}

function fixed(identity: Identity): CredentialSource {
  return { known: identity, current: () => Promise.resolve(identity), refused: () => Promise.resolve() };
}

function tokenFile(path: string, clock: Clock): CredentialSource {
  let kept: { identity: Promise<Identity>; until: number } | undefined;
  return {
    current() {
      if (!kept || clock.monotonic() >= kept.until) {
        kept = { identity: readToken(path), until: clock.monotonic() + TOKEN_FILE_MS };
        kept.identity.catch(() => {
          kept = undefined;
        });
      }
      return kept.identity;
    },
    refused() {
      kept = undefined;
      return Promise.resolve();
    },
  };
}

async function readToken(path: string): Promise<Identity> {
  let token: string;
  try {
    token = (await readFile(path, 'utf8')).trim();
  } catch (cause) {
    throw new ClientError(`cannot read the token file: ${(cause as Error).message}`, { code: 'ERR_TOKEN_FILE', cause });
  }
  if (token === '') throw new ClientError(`the token file ${path} is empty`, { code: 'ERR_TOKEN_FILE' });
  return { token };
}
