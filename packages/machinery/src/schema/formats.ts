import { isGoDuration } from '../go-duration.ts';
import { isIPv4, isIPv6 } from '../ip-address.ts';

/**
 * Whether `text` is of the `format` that a schema asks for. The formats are those that a CustomResourceDefinition can
 * enforce (kube-openapi's strfmt); any other one, `int32` too, is a remark.
 */
export function matchesFormat(text: string, format: string): boolean {
  return isEnforcedFormat(format) ? FORMATS[normalize(format)]!(text) : true;
}

/** Whether a server enforces the format. */
export function isEnforcedFormat(format: string): boolean {
  return Object.hasOwn(FORMATS, normalize(format));
}

function normalize(format: string): string {
  return format.replaceAll('-', '');
}

const HOSTNAME =
  /^([a-zA-Z0-9\p{S}\p{L}]((-?[a-zA-Z0-9\p{S}\p{L}]{0,62})?)|([a-zA-Z0-9\p{S}\p{L}](([a-zA-Z0-9\-\p{S}\p{L}]{0,61}[a-zA-Z0-9\p{S}\p{L}])?)(\.)){1,}([a-zA-Z\p{L}]){2,63})$/u;
const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=|[A-Za-z0-9+/]{4})$/;
const EMAIL = /^(?:[^<>@]*<)?[^\s<>@,;:"()[\]\\]+@[^\s<>@,;:"()]+>?$/;
// One digit will do: from each of many, more of them would be read again.
const WORD_DURATION =
  /\d\s*(?:ns|nano|us|\u00b5s|micro|ms|milli|sec|s\b|min|m\b|h\b|hr|hour|d\b|day|w\b|wk|week)[a-z]*/i;
const MAC =
  /^(?:[0-9a-f]{2}([:-])(?:[0-9a-f]{2}\1){4}(?:[0-9a-f]{2}\1[0-9a-f]{2}\1)?[0-9a-f]{2}|(?:[0-9a-f]{4}\.){2,3}[0-9a-f]{4})$/i;
const SHORT_NAME = '[a-z0-9](?:[-a-z0-9]*[a-z0-9])?';

const FORMATS: Readonly<Record<string, (text: string) => boolean>> = {
  bsonobjectid: (text) => /^[0-9a-f]{24}$/i.test(text),
  uri: isRequestUri,
  email: (text) => EMAIL.test(text),
  hostname: (text) =>
    HOSTNAME.test(text) &&
    new TextEncoder().encode(text).length <= 255 &&
    text.split('.').every((label) => label.length <= 63),
  ipv4: (text) => isIPv4(text),
  ipv6: (text) => isIPv6(text),
  cidr: isCidr,
  mac: (text) => MAC.test(text),
  uuid: (text) => /^[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}$/i.test(text),
  uuid3: (text) => /^[0-9a-f]{8}-?[0-9a-f]{4}-?3[0-9a-f]{3}-?[0-9a-f]{4}-?[0-9a-f]{12}$/i.test(text),
  uuid4: (text) => /^[0-9a-f]{8}-?[0-9a-f]{4}-?4[0-9a-f]{3}-?[89ab][0-9a-f]{3}-?[0-9a-f]{12}$/i.test(text),
  uuid5: (text) => /^[0-9a-f]{8}-?[0-9a-f]{4}-?5[0-9a-f]{3}-?[89ab][0-9a-f]{3}-?[0-9a-f]{12}$/i.test(text),
  isbn: (text) => isIsbn10(text) || isIsbn13(text),
  isbn10: isIsbn10,
  isbn13: isIsbn13,
  creditcard: isCreditCard,
  ssn: (text) => /^\d{3}[- ]?\d{2}[- ]?\d{4}$/.test(text),
  hexcolor: (text) => /^#?([0-9a-fA-F]{3}|[0-9a-fA-F]{6})$/.test(text),
  rgbcolor: isRgbColor,
  byte: (text) => BASE64.test(text),
  password: () => true,
  date: isDate,
  duration: (text) => isGoDuration(text) || WORD_DURATION.test(text),
  datetime: isDateTime,
  k8sshortname: (text) => text.length <= 63 && new RegExp(`^${SHORT_NAME}$`).test(text),
  k8slongname: (text) => text.length <= 253 && new RegExp(`^${SHORT_NAME}(?:\\.${SHORT_NAME})*$`).test(text),
};

/** An absolute URI or an absolute path, as HTTP's request line takes it. */
function isRequestUri(text: string): boolean {
  if (!/^[\x21-\x7e\u0080-\uffff]+$/.test(text) || text.includes('#')) return false;
  return text.startsWith('/') ? URL.canParse(text, 'http://host') : /^[a-zA-Z][a-zA-Z0-9+.-]*:./.test(text);
}

function isCidr(text: string): boolean {
  const [address = '', prefix = '', ...rest] = text.split('/');
  if (rest.length > 0 || !/^\d{1,3}$/.test(prefix)) return false;
  return isIPv4(address) ? Number(prefix) <= 32 : isIPv6(address) && Number(prefix) <= 128;
}

function isDate(text: string): boolean {
  if (!/^\d{4}-\d{2}-\d{2}$/.test(text)) return false;
  const time = Date.parse(`${text}T00:00:00Z`);
  return !Number.isNaN(time) && new Date(time).toISOString().startsWith(text);
}

function isDateTime(text: string): boolean {
  const [date = '', time = ''] = text.toLowerCase().split('t');
  const match = /^(\d{2}):(\d{2}):(\d{2})(.\d+)?(z|[+-]\d{2}:\d{2})$/.exec(time);
  return match !== null && isDate(date) && match[1]! <= '23' && match[2]! <= '59' && match[3]! <= '59';
}

function isIsbn10(text: string): boolean {
  const digits = text.replace(/[\s-]/g, '');
  if (!/^\d{9}[\dX]$/.test(digits)) return false;
  const sum = Array.from(digits).reduce((total, char, i) => total + (10 - i) * (char === 'X' ? 10 : Number(char)), 0);
  return sum % 11 === 0;
}

function isIsbn13(text: string): boolean {
  const digits = text.replace(/[\s-]/g, '');
  if (!/^\d{13}$/.test(digits)) return false;
  return Array.from(digits).reduce((total, char, i) => total + Number(char) * (i % 2 === 0 ? 1 : 3), 0) % 10 === 0;
}

/** By its length and the Luhn checksum. */
function isCreditCard(text: string): boolean {
  const digits = text.replace(/[^0-9]+/g, '');
  if (!/^\d{13,19}$/.test(digits)) return false;
  const sum = Array.from(digits)
    .reverse()
    .reduce((total, char, i) => {
      const value = Number(char) * (i % 2 === 0 ? 1 : 2);
      return total + (value > 9 ? value - 9 : value);
    }, 0);
  return sum % 10 === 0;
}

function isRgbColor(text: string): boolean {
  const match = /^rgb\(\s*(\d{1,3})\s*,\s*(\d{1,3})\s*,\s*(\d{1,3})\s*\)$/.exec(text);
  return match !== null && match.slice(1).every((part) => Number(part) <= 255 && String(Number(part)) === part);
}
