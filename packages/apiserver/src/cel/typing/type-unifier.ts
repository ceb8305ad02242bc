import { type CelType, DYN, formatType } from './cel-type.ts';

/** Types that a value of `null` may have. */
const NULLABLE = new Set(['null', 'object', 'opaque', 'duration', 'timestamp']);

/** Finds out what the type parameters of one expression stand for. */
export class TypeUnifier {
  readonly #bindings = new Map<string, CelType>();
  /** The bindings that the running attempt has changed, as they were before. */
  readonly #trail: [name: string, before: CelType | undefined][] = [];
  #fresh = 0;

  /** A parameter that nothing else uses. */
  freshParam(): CelType {
    this.#fresh++;
    return { kind: 'param', name: `_var${this.#fresh}` };
  }

  /** The type with new parameters in place of those of a declaration. */
  instantiate(type: CelType, fresh: Map<string, CelType>): CelType {
    return mapParams(type, (name) => {
      const known = fresh.get(name) ?? this.freshParam();
      fresh.set(name, known);
      return known;
    });
  }

  /** The type with all parameters replaced that are known; with `toDyn` the others become `dyn`. */
  resolve(type: CelType, toDyn = false): CelType {
    return mapParams(type, (name, param) => {
      const bound = this.#bindings.get(name);
      if (bound) return this.resolve(bound, toDyn);
      return toDyn ? DYN : param;
    });
  }

  /** Whether values of `from` may be used as `to`. Learns parameters only where they may. */
  assign(from: CelType, to: CelType): boolean {
    return this.assignAll([from], [to]);
  }

  assignAll(from: readonly CelType[], to: readonly CelType[]): boolean {
    if (from.length !== to.length) return false;
    this.#trail.length = 0;
    if (from.every((type, index) => this.#unify(to[index]!, type))) return true;
    for (const [name, before] of this.#trail.toReversed()) {
      if (before) this.#bindings.set(name, before);
      else this.#bindings.delete(name);
    }
    return false;
  }

  #bind(name: string, type: CelType): void {
    this.#trail.push([name, this.#bindings.get(name)]);
    this.#bindings.set(name, type);
  }

  /** The type that has the values of both, one of which may be used as the other. */
  mostGeneral(a: CelType, b: CelType): CelType {
    return isMoreGeneral(a, b) ? a : b;
  }

  #unify(a: CelType, b: CelType): boolean {
    if (a === b) return true;
    if (b.kind === 'param') return this.#unifyParam(b, a);
    if (a.kind === 'param') return this.#unifyParam(a, b);
    if (isAny(a) || isAny(b)) return true;
    if (a.kind === 'null' || b.kind === 'null') return NULLABLE.has(a.kind) && NULLABLE.has(b.kind);
    if (a.kind === 'list') return b.kind === 'list' && this.#unify(a.element, b.element);
    if (a.kind === 'map') return b.kind === 'map' && this.#unify(a.key, b.key) && this.#unify(a.value, b.value);
    if (a.kind === 'optional') return b.kind === 'optional' && this.#unify(a.of, b.of);
    if (a.kind === 'object' || a.kind === 'opaque')
      return (b.kind === 'object' || b.kind === 'opaque') && a.name === b.name;
    return a.kind === b.kind;
  }

  #unifyParam(param: CelType & { kind: 'param' }, other: CelType): boolean {
    const bound = this.#bindings.get(param.name);
    if (bound) {
      const mine = this.resolve(bound);
      if (!this.#unify(mine, other)) return false;
      const general = this.mostGeneral(other, mine);
      if (!mentions(this.resolve(general), param.name)) this.#bind(param.name, general);
      return true;
    }
    const resolved = this.resolve(other);
    if (resolved.kind === 'param' && resolved.name === param.name) return true;
    if (mentions(resolved, param.name)) return false;
    this.#bind(param.name, other);
    return true;
  }
}

function isAny(type: CelType): boolean {
  return type.kind === 'dyn' || type.kind === 'error';
}

/** Whether a type is the same as another, or has `dyn` or a parameter where the other has something. */
function isMoreGeneral(a: CelType, b: CelType): boolean {
  if (isAny(a) || a.kind === 'param') return true;
  if (a.kind === 'null') return b.kind === 'null';
  if (a.kind === 'list') return b.kind === 'list' && isMoreGeneral(a.element, b.element);
  if (a.kind === 'map') return b.kind === 'map' && isMoreGeneral(a.key, b.key) && isMoreGeneral(a.value, b.value);
  if (a.kind === 'optional') return b.kind === 'optional' && isMoreGeneral(a.of, b.of);
  return b.kind !== 'null' ? formatType(a) === formatType(b) : true;
}

function mentions(type: CelType, param: string): boolean {
  switch (type.kind) {
    case 'param':
      return type.name === param;
    case 'list':
      return mentions(type.element, param);
    case 'map':
      return mentions(type.key, param) || mentions(type.value, param);
    case 'optional':
      return mentions(type.of, param);
    case 'type':
      return type.of !== undefined && mentions(type.of, param);
    default:
      return false;
  }
}

function mapParams(type: CelType, replace: (name: string, param: CelType) => CelType): CelType {
  switch (type.kind) {
    case 'param':
      return replace(type.name, type);
    case 'list': {
      const element = mapParams(type.element, replace);
      return element === type.element ? type : { kind: 'list', element };
    }
    case 'map': {
      const key = mapParams(type.key, replace);
      const value = mapParams(type.value, replace);
      return key === type.key && value === type.value ? type : { kind: 'map', key, value };
    }
    case 'optional': {
      const of = mapParams(type.of, replace);
      return of === type.of ? type : { kind: 'optional', of };
    }
    case 'type':
      return type.of ? { kind: 'type', of: mapParams(type.of, replace) } : type;
    default:
      return type;
  }
}
