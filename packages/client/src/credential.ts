import { readFile } from 'node:fs/promises';
import type { Clock } from './clock.ts';
import { ClientError } from './client-error.ts';
import type { Connection, Credential } from './connection.ts';
import type { ExecCredentialCache } from './kubeconfig/exec-credential.ts';

/** What a request carries: a bearer token, a certificate at the connection below it, or both. */
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
/** A file that could not be read is read again after this time. */
const UNREADABLE_MS = 1_000;

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
      return fixed({ token: credential.token, ...credential.certificate });
    case 'certificate':
      return fixed({ cert: credential.cert, key: credential.key });
    case 'tokenFile':
      return tokenFile(credential, clock);
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

/** As client-go: a file that cannot be read for a moment, or is removed on purpose, costs nothing while a token is known. */
function tokenFile(file: Extract<Credential, { kind: 'tokenFile' }>, clock: Clock): CredentialSource {
  let last: Identity | undefined = file.token === undefined ? undefined : { token: file.token, ...file.certificate };
  let due = Number.NEGATIVE_INFINITY;
  let reading: Promise<Identity> | undefined;
  const read = async (): Promise<Identity> => {
    try {
      last = { ...(await readToken(file.path)), ...file.certificate };
      due = clock.monotonic() + TOKEN_FILE_MS;
    } catch (error) {
      if (last === undefined) throw error;
      due = clock.monotonic() + UNREADABLE_MS;
    } finally {
      reading = undefined;
    }
    return last;
  };
  return {
    current() {
      if (last && clock.monotonic() < due) return Promise.resolve(last);
      reading ??= read();
      return reading;
    },
    refused() {
      due = Number.NEGATIVE_INFINITY;
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
