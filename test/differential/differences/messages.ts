import { isJsonObject } from '@asterism/machinery';
import type { Fields } from '../objects/generated-kind.ts';
import type { KnownDifference } from './known-difference.ts';
import { causesOf, eachCause, keepDistinctCauses } from './causes.ts';
import { bothMessages, fieldRenamed, messageChanged } from './rule-forms.ts';

/** Words. */
export const messageDifferences: readonly KnownDifference[] = [
  {
    name: 'fields of several conflicts',
    reason: '1.20 names one field several times (a slice that was shared), and orders managers by chance',
    answer({ real, own }) {
      const both = [real['body'], own['body']];
      if (!both.every((body) => isJsonObject(body) && /^Apply failed with \d+ conflicts/.test(String(body['message']))))
        return false;
      for (const body of both) {
        const { details } = body as { details: Fields };
        const causes = causesOf(body).map((cause) => ({ ...cause, field: '<field>' }));
        details['causes'] = causes.sort(byText);
        (body as Fields)['message'] = '<conflicts>';
      }
      return true;
    },
  },
  {
    name: 'causes told twice',
    reason: 'some strategies of 1.20 validate twice, and so do others of 1.36: a cause counts once',
    answer: ({ real, own }) => [real, own].map(({ body }) => keepDistinctCauses(body)).includes(true),
  },
  {
    name: 'values in messages',
    reason: 'values that are no scalars are shown as JSON, not in the syntax of Go, since 1.30',
    answer({ real, own }) {
      const [theirs, ours] = [causesOf(real['body']), causesOf(own['body'])];
      const goValues = [...theirs.keys()].filter((index) => GO_VALUE.test(String(theirs[index]?.['message'])));
      if (goValues.length === 0 || ours.length !== theirs.length) return false;
      for (const index of goValues) for (const cause of [theirs[index], ours[index]]) if (cause) hideValue(cause);
      for (const { body } of [real, own]) if (isJsonObject(body)) body['message'] = '<values>';
      return true;
    },
  },
  bothMessages(
    'decoding errors',
    'the decoder of 1.20 (json-iterator) words its errors otherwise than that of 1.36 (sigs.k8s.io/json)',
    /(cannot be handled as a \w+: ).*$/gs,
    '$1<error>',
  ),
  bothMessages(
    'order of supported values',
    '1.20 sorts them, 1.36 tells them in the order of its source',
    /supported values: ("[^"]*"(?:, "[^"]*")*)/g,
    sortValues,
  ),
  {
    name: 'group of an Ingress in errors',
    reason: '1.20 kept the first group of the kind, extensions',
    answer({ real: { body } }) {
      if (!isJsonObject(body) || !isJsonObject(body['details']) || body['details']['group'] !== 'extensions')
        return false;
      body['details']['group'] = 'networking.k8s.io';
      body['message'] = String(body['message']).replaceAll('.extensions ', '.networking.k8s.io ');
      return true;
    },
  },
  messageChanged(
    /'replicas', 'template', and 'updateStrategy' are forbidden/g,
    "'replicas', 'ordinals', 'template', 'updateStrategy', 'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds' are forbidden",
    'more fields of a StatefulSet may be changed',
  ),
  messageChanged(
    /loopback range \(127.0.0.0\/8\)/g,
    'loopback range (127.0.0.0/8, ::1/128)',
    'IPv6 is checked since 1.21',
  ),
  messageChanged(
    /link-local range \(169.254.0.0\/16\)/g,
    'link-local range (169.254.0.0/16, fe80::/10)',
    'IPv6 is checked since 1.21',
  ),
  messageChanged(
    /: not a valid CIDR/g,
    ': must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)',
    'words of 1.31',
  ),
  messageChanged(/must to greater or equal than 0/g, 'must be greater than or equal to 0', 'words of 1.31'),
  messageChanged(
    /"ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce"$/g,
    '"ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod"',
    'ReadWriteOncePod is of 1.22',
  ),
  messageChanged(/must have at most (\d+) (bytes|characters)/g, 'may not be more than $1 bytes', 'words of 1.32'),
  bothMessages(
    'unit of a length',
    'bytes or characters, by place, since 1.32',
    /must be no more than (\d+) (?:characters|bytes)/g,
    'must be no more than $1',
  ),
  messageChanged(/expected: '=', '!=', '==', 'in', notin'/g, 'expected: in, notin, =, ==, !=, gt, lt', 'words of 1.26'),
  bothMessages(
    'what a change of a pod was',
    'the allowed fields are listed and the difference is shown in other forms',
    /(Forbidden: pod updates may not change fields other than |Forbidden: spec is immutable after creation except ).*$/gs,
    '$1<fields>',
  ),
  messageChanged(/data\[%s\]\[([^\]]+)\]/g, 'data[$1]', 'a mistake of 1.20 that was mended'),
  {
    name: 'reason of a wrong type in a custom resource',
    reason: 'FieldValueTypeInvalid since 1.24, FieldValueInvalid before',
    answer: ({ real: { body } }) =>
      eachCause(body, (cause) => {
        if (cause['reason'] !== 'FieldValueInvalid' || !/must be of type/.test(String(cause['message']))) return false;
        cause['reason'] = 'FieldValueTypeInvalid';
        return true;
      }),
  },
  {
    name: 'too many and too long in a custom resource',
    reason: 'errors of their own kinds since 1.24 (FieldValueTooMany, FieldValueTooLong), which tell other values',
    answer({ real, own }) {
      const changed = [real, own].map(({ body }) => eachCause(body, hideTooMuch)).includes(true);
      for (const { body } of [real, own]) if (changed && isJsonObject(body)) body['message'] = '<too much>';
      return changed;
    },
  },
  messageChanged(
    /field label "([^"]*)" not supported for [a-z]+v\d\.(\w+)/g,
    'field label "$1" not supported for $2',
    'words of 1.21',
  ),
  messageChanged(
    /Invalid value: "null": must be atomic/g,
    'Invalid value: null: must be atomic',
    'values are shown as JSON since 1.30',
  ),
  messageChanged(
    /the namespace of the object \(\S+\) does not match the namespace on the request \(\S+\)/g,
    'the namespace of the provided object does not match the namespace sent on the request',
    'words of 1.21',
  ),
  messageChanged(
    /Invalid value: "null": exactly one of/g,
    'Invalid value: null: exactly one of',
    'values are shown as JSON since 1.30',
  ),
  messageChanged(
    /(ownerReferences\S* Invalid value: ""|^Invalid value: ""): (?:uid|name|kind) must not be empty/g,
    '$1: must not be empty',
    'words of 1.34',
  ),
  messageChanged(
    /Only one reference can have Controller set to true. Found "true" in references for (\S+) and (\S+?)(?=$|[\],])/g,
    'Only one reference can have Controller set to true. Found "true" in references for ConfigMap/$1 and ConfigMap/$2',
    'kinds are told since 1.24',
  ),
  messageChanged(/failed to allocated ip:\S+ with error:/g, '', 'words of 1.27'),
  bothMessages(
    'addresses out of range',
    'addresses are objects since 1.33: other words for another network than for its first and last address',
    /(?:provided IP is not in the valid range|the provided network does not match the current range|the provided IP \(\S+\) is not in the valid range).*$/g,
    '<out of range>',
  ),
  messageChanged(
    /Required value: (?:usages|signerName) must be provided/g,
    'Required value',
    'told by the schema since 1.34',
  ),
  {
    name: 'a token of a wrong signature',
    reason:
      'the words of the library that reads tokens, and in 1.36 of another one: ours tells nothing of a wrong signature',
    answer({ real, own }) {
      const [theirs, ours] = [real['body'], own['body']].map((body) =>
        isJsonObject(body) ? body['status'] : undefined,
      );
      if (!isJsonObject(theirs) || !isJsonObject(ours) || ours['error'] !== 'invalid bearer token') return false;
      if (!String(theirs['error']).startsWith('[invalid bearer token, square/go-jose')) return false;
      theirs['error'] = ours['error'];
      return true;
    },
  },
  bothMessages(
    'what a quota asks for',
    'containers are told since 1.22',
    /must specify (.*)$/g,
    (_, amounts = '') => `lacks ${amounts.replaceAll(/ for: [^;]+/g, '').replaceAll('; ', ',')}`,
  ),
  bothMessages(
    'amounts of a whole pod',
    'sums keep the form of what was added since 1.27',
    /(per Pod is \S+, but (?:limit|request) is )[^,\]]+/g,
    '$1<amount>',
  ),
  bothMessages(
    'node ports in messages',
    'of no version: each server draws its own',
    /Invalid value: \d+: provided port is already allocated/g,
    'Invalid value: <port>: provided port is already allocated',
  ),
  bothMessages(
    'objects in messages',
    'the whole object that a patch made is shown with its fields in another order',
    /Invalid value: "\{.*\}": /gs,
    'Invalid value: <object>: ',
  ),
  {
    name: 'place of a wrong item',
    reason: 'errors in list items of custom resources tell the index since 1.24',
    answer: ({ real, own }) => {
      const [theirs, ours] = [causesOf(real['body']), causesOf(own['body'])];
      const [cause, mine] = [theirs[0], ours[0]];
      if (!cause || !mine || cause['field'] === mine['field']) return false;
      if (String(mine['field']).replace('[0]', '') !== cause['field']) return false;
      cause['field'] = mine['field'];
      for (const { body } of [real, own]) {
        for (const holder of [body, ...causesOf(body)]) {
          if (isJsonObject(holder)) holder['message'] = String(holder['message']).replaceAll('[0]', '');
        }
      }
      return true;
    },
  },
  fieldRenamed(/^data\[%s\]\[/, 'data[', 'a mistake of 1.20 that was mended'),
  fieldRenamed(/^Value$/, 'value', 'a PriorityClass was told of with a capital until 1.21'),
  messageChanged(
    /: must be valid CIDR/g,
    ': must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)',
    'words of 1.31',
  ),
  {
    name: 'restart policy of a Job',
    reason: 'another reason and other words since 1.24',
    answer({ real, own }) {
      const [theirs, ours] = [causesOf(real['body'])[0], causesOf(own['body'])[0]];
      if (theirs?.['message'] !== 'Required value: valid values: "OnFailure", "Never"' || !ours) return false;
      if (!/^(Required|Unsupported) value/.test(String(ours['message']))) return false;
      for (const cause of [theirs, ours])
        Object.assign(cause, { message: '<restart policy>', reason: '<restart policy>' });
      for (const { body } of [real, own]) if (isJsonObject(body)) body['message'] = '<restart policy>';
      return true;
    },
  },
  {
    name: 'names of StatefulSets and Services',
    reason:
      'a StatefulSet has the name of a DNS label since 1.27, and a Service needs no letter at its start since 1.36',
    answer({ real, own, request }) {
      if (!/\/(statefulsets|services)$/.test(request)) return false;
      return [real, own]
        .map(({ body }) =>
          eachCause(body, (cause) => {
            if (cause['field'] !== 'metadata.name' || !/RFC 1123|DNS-1035/.test(String(cause['message']))) return false;
            cause['message'] = '<name>';
            for (const { body: status } of [real, own]) if (isJsonObject(status)) status['message'] = '<name>';
            return true;
          }),
        )
        .includes(true);
    },
  },
  bothMessages(
    'decoding errors of a patched object',
    'as other decoding errors',
    /(Invalid value: <object>: ).*$/gs,
    '$1<error>',
  ),
  bothMessages(
    'limit of a request',
    'the limit is told since 1.29',
    /(must be less than or equal to \w+ limit)(?: of [^\s,\]]+)?/g,
    '$1 <limit>',
  ),
  messageChanged(
    /Expected exactly 5 fields, found (\d+): (.*)$/g,
    'expected exactly 5 fields, found $1: [$2]',
    'the parser of schedules was replaced in 1.21',
  ),
  {
    name: 'a number for an integer',
    reason: 'told twice in custom resources by the validation of 1.36',
    answer({ own }) {
      const causes = causesOf(own['body']);
      const kept = causes.filter(
        ({ field, message }) => field !== '<nil>' || !/Checked value must be of/.test(String(message)),
      );
      if (kept.length === causes.length || !isJsonObject(own['body'])) return false;
      (own['body']['details'] as Fields)['causes'] = kept;
      own['body']['message'] = String(own['body']['message']).replace(/: \[(.*), <nil>: .*\]$/s, ': $1');
      return true;
    },
  },
  messageChanged(
    /Required value: (?:schemas are required|must not be empty)(?=$|[,\]])/g,
    'Required value',
    'words of 1.36',
  ),
  {
    name: 'name of an attacher that is not there',
    reason: 'only that it is required is told since 1.34, not that an empty name is no name',
    answer({ real: { body }, request }) {
      const causes = causesOf(body);
      if (!request.endsWith('/volumeattachments') || !isJsonObject(body)) return false;
      const kept = causes.filter(
        ({ field, message }) => field !== 'spec.attacher' || !String(message).startsWith('Invalid value: ""'),
      );
      if (kept.length === causes.length) return false;
      (body['details'] as Fields)['causes'] = kept;
      body['message'] = String(body['message']).replace(/: \[(spec\.attacher: Required value), .*\]$/s, ': $1');
      return true;
    },
  },
];

function sortValues(_: string, values: string): string {
  return `supported values: ${values.split(', ').sort().join(', ')}`;
}

const TOO_MUCH = /^(Too many|Too long): |in body should (have|be) at (most|least) \d+ (items|chars|properties)/;

function hideTooMuch(cause: Fields): boolean {
  if (!TOO_MUCH.test(String(cause['message']))) return false;
  cause['message'] = '<too much>';
  cause['reason'] = '<too much>';
  return true;
}

function byText(a: Fields, b: Fields): number {
  return JSON.stringify(a).localeCompare(JSON.stringify(b));
}

/** A value that `%v` or `%#v` printed. */
const GO_VALUE = /^(?:Invalid|Duplicate|Unsupported) value: (?!"|-?\d|true|false|null|<nil>)/;

/** Leaves the kind of the error and, where there is one, what is wrong with the value. */
function hideValue(cause: Fields): void {
  const [, kind = '', rest = ''] = /^(\w+ value): (.*)$/s.exec(String(cause['message'])) ?? [];
  const end = rest.lastIndexOf(': ');
  cause['message'] = `${kind}: <value>${end > 0 ? rest.slice(end) : ''}`;
}
