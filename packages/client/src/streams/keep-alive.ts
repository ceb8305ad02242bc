/** Connections on which nothing comes are forgotten by balancers and NAT after a minute or more. */
const PING_MS = 15_000;

/** Sends a sign of life again and again until `gone`. */
export function keepAlive(ping: () => void, gone: Promise<unknown>, pingMs = PING_MS): void {
  const timer = setInterval(ping, pingMs);
  timer.unref();
  void gone.finally(() => clearInterval(timer));
}
