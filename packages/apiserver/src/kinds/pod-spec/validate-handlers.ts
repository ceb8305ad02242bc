import type {
  Container,
  ExecAction,
  GRPCAction,
  HTTPGetAction,
  Lifecycle,
  PodOS,
  Probe,
  SleepAction,
  TCPSocketAction,
} from '@asterism/machinery';
import type { Faults } from '../validation/faults.ts';
import type { FieldPath } from '../validation/field-path.ts';
import { validatePort, validateHeaderName } from '../validation/validate-text.ts';

interface Handler {
  exec?: ExecAction;
  httpGet?: HTTPGetAction;
  tcpSocket?: TCPSocketAction;
  grpc?: GRPCAction;
  sleep?: SleepAction;
}

/** What handlers depend on besides themselves. */
export interface HandlerSurroundings {
  gracePeriodSeconds: number | undefined;
  os: PodOS | undefined;
}

/** The three probes and the lifecycle hooks of a container that may have them. */
export function validateHandlers(
  { lifecycle, livenessProbe, readinessProbe, startupProbe }: Container,
  at: FieldPath,
  around: HandlerSurroundings,
  faults: Faults,
): void {
  if (lifecycle) validateLifecycle(lifecycle, at.child('lifecycle'), around, faults);
  if (livenessProbe) validateProbe(livenessProbe, at.child('livenessProbe'), faults, 'must succeed once');
  if (readinessProbe) {
    validateProbe(readinessProbe, at.child('readinessProbe'), faults);
    const { terminationGracePeriodSeconds: grace } = readinessProbe;
    if (grace !== undefined) {
      const place = at.child('readinessProbe').child('terminationGracePeriodSeconds');
      faults.invalid(place, grace, 'must not be set for readinessProbes');
    }
  }
  if (startupProbe) validateProbe(startupProbe, at.child('startupProbe'), faults, 'must succeed once');
}

const COUNTS = [
  'initialDelaySeconds',
  'timeoutSeconds',
  'periodSeconds',
  'successThreshold',
  'failureThreshold',
] as const;

function validateProbe(probe: Probe, at: FieldPath, faults: Faults, once?: 'must succeed once'): void {
  const { terminationGracePeriodSeconds: grace, successThreshold = 0 } = probe;
  validateHandler(probe, at, undefined, faults);
  for (const key of COUNTS) faults.notNegative(at, key, probe[key]);
  if (grace !== undefined && grace <= 0) {
    faults.invalid(at.child('terminationGracePeriodSeconds'), grace, 'must be greater than 0');
  }
  if (once && successThreshold !== 1) faults.invalid(at.child('successThreshold'), successThreshold, 'must be 1');
}

/** Exactly one kind of handler, and that without faults. */
function validateHandler(handler: Handler, at: FieldPath, grace: number | undefined, faults: Faults): void {
  const { exec, httpGet, tcpSocket, grpc, sleep } = handler;
  let found = false;
  const isFirst = (name: string): boolean => {
    if (found) faults.forbidden(at.child(name), 'may not specify more than 1 handler type');
    const first = !found;
    found = true;
    return first;
  };
  if (exec && isFirst('exec') && !exec.command?.length) faults.required(at.child('exec').child('command'));
  if (httpGet && isFirst('httpGet')) validateHttpGet(httpGet, at.child('httpGet'), faults);
  if (tcpSocket && isFirst('tcpSocket')) validatePort(tcpSocket.port, at.child('tcpSocket').child('port'), faults);
  if (grpc && isFirst('grpc')) validatePort(grpc.port, at.child('grpc').child('port'), faults);
  if (sleep && isFirst('sleep')) {
    const { seconds } = sleep;
    if (grace !== undefined && (seconds < 0 || seconds > grace)) {
      const detail = `must be non-negative and less than terminationGracePeriodSeconds (${grace})`;
      faults.invalid(at.child('sleep'), seconds, detail);
    }
  }
  if (!found) faults.required(at, 'must specify a handler type');
}

function validateHttpGet({ path, port, scheme, httpHeaders }: HTTPGetAction, at: FieldPath, faults: Faults): void {
  if (!path) faults.required(at.child('path'));
  validatePort(port, at.child('port'), faults);
  if (scheme !== 'HTTP' && scheme !== 'HTTPS') {
    faults.notSupported(at.child('scheme'), scheme ?? '', ['HTTP', 'HTTPS']);
  }
  for (const { name = '' } of httpHeaders ?? []) {
    faults.invalidEach(at.child('httpHeaders'), name, validateHeaderName(name));
  }
}

function validateLifecycle(
  { postStart, preStop, stopSignal }: Lifecycle,
  at: FieldPath,
  { gracePeriodSeconds, os }: HandlerSurroundings,
  faults: Faults,
): void {
  if (postStart) validateHandler(postStart, at.child('postStart'), gracePeriodSeconds, faults);
  if (preStop) validateHandler(preStop, at.child('preStop'), gracePeriodSeconds, faults);
  if (stopSignal === undefined) return;
  const place = at.child('stopSignal');
  if (!os) faults.forbidden(place, 'may not be set for containers with empty `spec.os.name`');
  else if (os.name === 'windows') {
    if (!WINDOWS_SIGNALS.includes(stopSignal)) faults.notSupported(place, stopSignal, WINDOWS_SIGNALS);
  } else if (os.name === 'linux') {
    const signals = linuxSignals();
    if (!signals.includes(stopSignal)) faults.notSupported(place, stopSignal, signals);
  }
}

const WINDOWS_SIGNALS = ['SIGKILL', 'SIGTERM'];
const NAMED_SIGNALS =
  'ABRT ALRM BUS CHLD CLD CONT FPE HUP ILL INT IO IOT KILL PIPE POLL PROF PWR QUIT SEGV STKFLT STOP SYS TERM TRAP TSTP TTIN TTOU URG USR1 USR2 VTALRM WINCH XCPU XFSZ';

/** Every signal of Linux, sorted; the realtime ones are counted from their ends. */
function linuxSignals(): string[] {
  const up = Array.from({ length: 15 }, (_, index) => `RTMIN+${index + 1}`);
  const down = Array.from({ length: 14 }, (_, index) => `RTMAX-${index + 1}`);
  return [...NAMED_SIGNALS.split(' '), 'RTMIN', ...up, ...down, 'RTMAX'].map((name) => `SIG${name}`).sort();
}
