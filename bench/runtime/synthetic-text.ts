import { formatTime } from '@asterism/machinery';
/** So many hexadecimal digits that look random and are always those of `number`. */
export function digitsOf(number: number, length: number): string {
  let text = '';
  for (let state = number + 1; text.length < length; ) {
    state = (Math.imul(state ^ (state >>> 15), 0x2c1b3c6d) + 0x9e3779b9) >>> 0;
    text += state.toString(16).padStart(8, '0');
  }
  return text.slice(0, length);
}

export function uidOf(number: number): string {
  const digits = digitsOf(number + 7_000_000, 32);
  return [digits.slice(0, 8), digits.slice(8, 12), digits.slice(12, 16), digits.slice(16, 20), digits.slice(20)].join(
    '-',
  );
}

/** A second of its own for each number. */
export function timeOf(number: number): string {
  return formatTime(1.7e12 + number * 1000);
}
