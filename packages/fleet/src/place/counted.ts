/** `1 replica`, `3 replicas`: as messages count things. */
export function counted(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? '' : 's'}`;
}
