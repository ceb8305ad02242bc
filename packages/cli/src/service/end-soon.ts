/** Long enough for a last line on its way to a pipe. */
const LINGER_MS = 20;

/**
 * Ends the process when a service has ended, with the exit code that is set by then. A connection that is still being made, a
 * credential plugin that hangs or a stdin that nobody closes would keep it for as long as they like; and on its long way out by
 * itself Node takes no signal any more, so that a second Ctrl-C would turn a clean stop into a death by signal.
 */
export function endSoon(): void {
  setTimeout(() => process.exit(), LINGER_MS);
}
