const PLAIN_DIGITS = 6;

/** A double as Go's `%g` prints it: `1.5`, `1e+06`, `NaN`, `+Inf`. */
export function formatDouble(value: number): string {
  if (Number.isNaN(value)) return 'NaN';
  if (!Number.isFinite(value)) return value > 0 ? '+Inf' : '-Inf';
  if (value === 0) return Object.is(value, -0) ? '-0' : '0';
  const [digits, power] = value.toExponential().split('e') as [string, string];
  const exponent = Number(power);
  if (exponent < -4 || exponent >= PLAIN_DIGITS) return `${digits}e${goExponent(exponent)}`;
  return plainDigits(digits, exponent);
}

/** At least two digits with a sign. */
export function goExponent(exponent: number): string {
  return `${exponent < 0 ? '-' : '+'}${String(Math.abs(exponent)).padStart(2, '0')}`;
}

function plainDigits(digits: string, exponent: number): string {
  const sign = digits.startsWith('-') ? '-' : '';
  const plain = digits.replace('-', '').replace('.', '');
  if (exponent < 0) return `${sign}0.${'0'.repeat(-exponent - 1)}${plain}`;
  if (plain.length <= exponent + 1) return sign + plain.padEnd(exponent + 1, '0');
  return `${sign}${plain.slice(0, exponent + 1)}.${plain.slice(exponent + 1)}`;
}
