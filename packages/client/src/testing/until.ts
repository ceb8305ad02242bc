const SHORTEST_PAUSE_MS = 2;
const LONGEST_PAUSE_MS = 50;

/**
 * Checks again and again until `check` neither throws nor returns false, and rejects with its last failure after `timeoutMs`. It is for
 * conditions that no event reports. The pause between two checks is a twentieth of the time that has passed, 2 to 50 ms.
 */
export async function until(check: () => boolean | void | Promise<boolean | void>, timeoutMs = 20_000): Promise<void> {
  const started = performance.now();
  for (;;) {
    let failure: unknown;
    try {
      if ((await check()) !== false) return;
      failure = new Error(`still false after ${timeoutMs} ms: ${check.toString()}`);
    } catch (error) {
      failure = error;
    }
    const passed = performance.now() - started;
    if (passed > timeoutMs) throw failure;
    const pause = Math.min(LONGEST_PAUSE_MS, Math.max(SHORTEST_PAUSE_MS, passed / 20));
    await new Promise((resolve) => setTimeout(resolve, pause));
  }
}
