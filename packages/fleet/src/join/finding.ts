/**
 * What one look at something found.
 *
 * - `Fine`: nothing to do. `Remark`: it works, and a person should know. `Fault`: it does not, or will not.
 */
export interface Finding {
  /** What was looked at, in a word or two: `clock`, `rights`. */
  check: string;
  state: 'Fine' | 'Remark' | 'Fault';
  /** What was found, and where. */
  message: string;
  /** What to do about it; always there for a fault. */
  remedy?: string | undefined;
}

export const fine = (check: string, message: string): Finding => ({ check, state: 'Fine', message });

export const remark = (check: string, message: string, remedy?: string): Finding => ({
  check,
  state: 'Remark',
  message,
  ...(remedy === undefined ? {} : { remedy }),
});

export const fault = (check: string, message: string, remedy: string): Finding => ({
  check,
  state: 'Fault',
  message,
  remedy,
});

export const hasFault = (findings: readonly Finding[]): boolean => findings.some(({ state }) => state === 'Fault');
