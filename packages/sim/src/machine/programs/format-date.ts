const DAYS = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday'];
const MONTHS = 'January February March April May June July August September October November December'.split(' ');

/** A time in UTC by a format of `strftime`. */
export function formatDate(format: string, milliseconds: number): string {
  const date = new Date(milliseconds);
  const two = (value: number): string => String(value).padStart(2, '0');
  const [day, month] = [DAYS[date.getUTCDay()] ?? '', MONTHS[date.getUTCMonth()] ?? ''];
  const time = `${two(date.getUTCHours())}:${two(date.getUTCMinutes())}:${two(date.getUTCSeconds())}`;
  const whole = date.toISOString().slice(0, 10);
  const fields: Record<string, string> = {
    Y: String(date.getUTCFullYear()),
    y: two(date.getUTCFullYear() % 100),
    m: two(date.getUTCMonth() + 1),
    d: two(date.getUTCDate()),
    e: String(date.getUTCDate()).padStart(2),
    H: two(date.getUTCHours()),
    I: two(date.getUTCHours() % 12 || 12),
    M: two(date.getUTCMinutes()),
    S: two(date.getUTCSeconds()),
    N: `${String(date.getUTCMilliseconds()).padStart(3, '0')}000000`,
    s: String(Math.floor(milliseconds / 1000)),
    j: String(Math.floor((milliseconds - Date.UTC(date.getUTCFullYear(), 0, 1)) / 86_400_000) + 1).padStart(3, '0'),
    a: day.slice(0, 3),
    A: day,
    b: month.slice(0, 3),
    B: month,
    u: String(date.getUTCDay() || 7),
    w: String(date.getUTCDay()),
    p: date.getUTCHours() < 12 ? 'AM' : 'PM',
    F: whole,
    T: time,
    R: time.slice(0, 5),
    z: '+0000',
    Z: 'UTC',
    c: `${day.slice(0, 3)} ${month.slice(0, 3)} ${String(date.getUTCDate()).padStart(2)} ${time} ${date.getUTCFullYear()}`,
    n: '\n',
    t: '\t',
    '%': '%',
  };
  return format.replaceAll(/%([A-Za-z%])/g, (found, letter: string) => fields[letter] ?? found);
}
