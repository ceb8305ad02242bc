/** A text of some length that expressions of the past went back and forth over. */
export type Filler = (length: number) => string;

const repeated =
  (unit: string, end = '', start = ''): Filler =>
  (length) =>
    start + unit.repeat(Math.max(0, Math.floor((length - start.length - end.length) / unit.length))) + end;

/** By name. */
export const FILLERS: Readonly<Record<string, Filler>> = {
  'digits and a sign': repeated('1', '!'),
  zeros: repeated('0', '!', '0.'),
  'dashes within letters': repeated('-', 'b', 'a'),
  blanks: repeated(' ', 'x', 'x'),
  'line breaks': repeated('\n', 'x', 'x'),
  subscripts: repeated("['", "']", 'a'),
  dots: repeated('.', '!', 'a'),
  labels: repeated('a.', '!'),
  letters: repeated('a', '!'),
  colons: repeated(':', '!'),
  slashes: repeated('/', '!', '/a'),
  commas: repeated(',', '!', 'a'),
  percents: repeated('%', '!'),
  'escaped bytes': repeated('%41', '%'),
  quotes: repeated('"', "'"),
  backslashes: repeated('\\', '"', '"'),
  'letters of other scripts': repeated('é☃', '!'),
  dollars: repeated('$(', '!'),
  braces: repeated('{', '}'),
  brackets: repeated('[', ']'),
  'PEM heads': repeated('-----BEGIN CERTIFICATE-----\n', '-----END X-----'),
  base64: repeated('AAAA'),
  'an address': repeated('1:', '::1'),
  'an exponent': repeated('9', '', '1e'),
  equations: repeated('a=b,', '!'),
  terms: repeated('a in (b),', 'c'),
};
