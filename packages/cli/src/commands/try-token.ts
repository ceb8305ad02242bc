import { type Clock, type Connection, createClient, createTransport, sleep } from '@asterism/client';
import { isStatusError } from '@asterism/machinery';

/** An API server learns of a new token from its own watch. */
const PATIENCE_MS = 5_000;
const RETRY_MS = 100;

/**
 * Whether the API server that a token was made in takes it, as it will have to take it from an agent. It does not where nobody
 * looks for tokens: at the address of a hub's templates, or without bootstrap token authentication.
 */
export async function isTokenTaken(server: Connection, token: string, clock: Clock): Promise<boolean> {
  const { impersonate: _, ...connection } = server;
  await using transport = createTransport({ ...connection, credential: { kind: 'token', token } });
  const client = createClient({ transport, userAgent: 'aster' });
  for (const deadline = clock.monotonic() + PATIENCE_MS; ; await sleep(clock, RETRY_MS)) {
    try {
      await client.version();
      return true;
    } catch (error) {
      // Any other answer is of somebody who knows the token.
      if (!isStatusError(error)) throw error;
      if (error.code !== 401) return true;
      if (clock.monotonic() >= deadline) return false;
    }
  }
}
