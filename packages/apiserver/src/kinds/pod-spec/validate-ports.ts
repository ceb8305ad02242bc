import type { Container } from '@asterism/machinery';
import type { Faults } from '../validation/faults.ts';
import type { FieldPath } from '../validation/field-path.ts';
import { validatePortNumber, validateRequiredChoice, validatePortName } from '../validation/validate-text.ts';

const PROTOCOLS = ['SCTP', 'TCP', 'UDP'];

export function validatePorts({ ports }: Container, container: FieldPath, faults: Faults): void {
  if (!ports) return;
  const names = new Set<string>();
  for (const [index, { name = '', containerPort = 0, hostPort = 0, protocol }] of ports.entries()) {
    const at = container.child('ports').index(index);
    if (name !== '') {
      const wrong = validatePortName(name);
      if (wrong.length > 0) faults.invalidEach(at.child('name'), name, wrong);
      else if (names.has(name)) faults.duplicate(at.child('name'), name);
      else names.add(name);
    }
    if (containerPort === 0) faults.required(at.child('containerPort'));
    else validatePortNumber(containerPort, at.child('containerPort'), faults);
    if (hostPort !== 0) validatePortNumber(hostPort, at.child('hostPort'), faults);
    validateRequiredChoice(protocol, PROTOCOLS, at.child('protocol'), faults);
  }
}

/** A port of the node can be had once; `at` is that of the containers. */
export function validateHostPorts(containers: readonly Container[], at: FieldPath, faults: Faults): void {
  let taken: Set<string> | undefined;
  for (const [index, { ports }] of containers.entries()) {
    if (!ports) continue;
    for (const [each, { hostPort, hostIP = '', protocol = '' }] of ports.entries()) {
      if (!hostPort) continue;
      const key = `${protocol}/${hostIP}/${hostPort}`;
      taken ??= new Set();
      if (taken.has(key)) {
        faults.duplicate(at.index(index).child('ports').index(each).child('hostPort'), key);
      }
      taken.add(key);
    }
  }
}
