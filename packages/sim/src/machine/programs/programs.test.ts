import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startTestContainer } from '../test-container.ts';

type Row = [name: string, script: string, out: string, rest?: { error?: string; code?: number; input?: string }];

const LINES = "printf 'b 2\\na 10\\nc 1\\na 10\\n'";

const rows: Row[] = [
  ['echo -n -e', "echo -n a; echo -e 'b\\tc\\c'; echo -- -x", 'ab\tc-- -x\n'],
  ['printf', "printf '%5s|%-5s|%05d|%x|%.2f|%%|%c\\n' a b 42 255 3.14159 xyz", '    a|b    |00042|ff|3.14|%|x\n'],
  ['printf goes round', "printf '%s-%s;' a b c", 'a-b;c-;'],
  ['cat of several', 'echo a >/tmp/a; echo b | cat /tmp/a - /tmp/a', 'a\nb\na\n'],
  ['ls', 'mkdir /d; touch /d/b /d/a /d/.h; ls /d; ls -a /d; ls -A /d', 'a\nb\n.\n..\n.h\na\nb\n.h\na\nb\n'],
  ['ls of what is not there', 'ls /none', '', { error: 'ls: /none: No such file or directory\n', code: 1 }],
  ['ls -R', 'mkdir -p /d/e; touch /d/f /d/e/g; ls -R /d', '/d:\ne\nf\n\n/d/e:\ng\n'],
  [
    'ls -l',
    "touch /tmp/f; ln -s f /tmp/l; ls -l /tmp | cut -c1-27 | tail -n 2; ls -l /tmp | grep -c 'l -> f'",
    '-rw-r--r--    1 root     ro\nlrwxrwxrwx    1 root     ro\n1\n',
  ],
  ['env', 'env -i A=1 env', 'A=1\n'],
  ['printenv', 'X=5 printenv X; printenv NONE; echo $?', '5\n1\n'],
  ['who and where', 'whoami; id -u; hostname; pwd', 'root\n0\nweb-0\n/\n'],
  ['uname', 'uname; uname -sm', 'Linux\nLinux x86_64\n'],
  [
    'date',
    "date -u -d @0 '+%Y-%m-%dT%H:%M:%SZ %s'; date -u -d @0",
    '1970-01-01T00:00:00Z 0\nThu Jan  1 00:00:00 UTC 1970\n',
  ],
  [
    'mkdir',
    'mkdir /a/b; mkdir -p /a/b/c && mkdir /a; echo $?',
    '1\n',
    {
      error:
        "mkdir: can't create directory '/a/b': No such file or directory\nmkdir: can't create directory '/a': File exists\n",
    },
  ],
  [
    'rm',
    'mkdir -p /a/b; rm /a; rm -rf /a /none; ls /a 2>/dev/null || echo gone',
    'gone\n',
    { error: "rm: can't remove '/a': is a directory\n" },
  ],
  [
    'rmdir',
    'mkdir /a; touch /a/f; rmdir /a; rm /a/f; rmdir /a && echo ok',
    'ok\n',
    { error: 'rmdir: /a: Directory not empty\n' },
  ],
  ['mv and cp', 'cd /tmp; echo x >a; mv a b; mkdir d; cp b d; cp -r d e; cat e/b; mv e d; ls d', 'x\nb\ne\n'],
  ['cp of a directory', 'cp /tmp /x', '', { error: "cp: omitting directory '/tmp'\n", code: 1 }],
  [
    'links',
    'echo x >/tmp/f; ln -s f /tmp/l; cat /tmp/l; readlink /tmp/l; readlink -f /tmp/l; ln -s l2 /l1; ln -s l1 /l2; cat /l1',
    'x\nf\n/tmp/f\n',
    { error: "cat: can't open '/l1': Too many levels of symbolic links\n", code: 1 },
  ],
  ['a hard link', 'echo x >/tmp/f; ln /tmp/f /tmp/g; echo y >>/tmp/f; cat /tmp/g', 'x\ny\n'],
  [
    'chmod',
    "touch /tmp/f; chmod 600 /tmp/f; stat -c '%a %A' /tmp/f; chmod u+x,g=r /tmp/f; stat -c %a /tmp/f",
    '600 -rw-------\n740\n',
  ],
  [
    'head',
    'seq 20 | head -3; seq 5 | head -n 1; printf abcdef | head -c 2; seq 20 | (head -n 1; head -n 1)',
    '1\n2\n3\n1\nab1\n2\n',
  ],
  [
    'tail',
    'seq 20 | tail -2; seq 5 | tail -n +4; printf abcdef | tail -c 2; printf abcdef | tail -c+5',
    '19\n20\n4\n5\nefef',
  ],
  ['tail -f', 'echo a >/tmp/f; tail -f /tmp/f & sleep 0.02; echo b >>/tmp/f; sleep 0.02; kill $!', 'a\nb\n'],
  [
    'wc',
    "printf 'a b\\nc' | wc; printf 'a b\\n' | wc -l; printf 'ab' >/tmp/f; wc -c /tmp/f",
    '        1         3         5\n1\n2 /tmp/f\n',
  ],
  [
    'grep',
    `${LINES} | grep a; ${LINES} | grep -v a; ${LINES} | grep -c a; ${LINES} | grep -in B`,
    'a 10\na 10\nb 2\nc 1\n2\n1:b 2\n',
  ],
  [
    'grep says whether',
    `${LINES} | grep -q zz; echo $?; ${LINES} | grep -q b; echo $?; grep x /none; echo $?`,
    '1\n0\n2\n',
    { error: 'grep: /none: No such file or directory\n' },
  ],
  [
    'grep -E and basic',
    "printf 'a+b\\naab\\n' | grep 'a+b'; printf 'a+b\\naab\\n' | grep -E 'a+b$'; echo abab | grep -o 'ab'; echo x1 | grep '^[[:alpha:]][0-9]\\{1\\}$'",
    'a+b\naab\nab\nab\nx1\n',
  ],
  [
    'sort',
    `${LINES} | sort; ${LINES} | sort -u | sort -k 2 -n; printf '2\\n10\\n1\\n' | sort -rn`,
    'a 10\na 10\nb 2\nc 1\nc 1\nb 2\na 10\n10\n2\n1\n',
  ],
  ['uniq', `${LINES} | sort | uniq -c; ${LINES} | sort | uniq -d`, '      2 a 10\n      1 b 2\n      1 c 1\na 10\n'],
  ['cut', 'echo a:b:c | cut -d: -f1,3; echo abcdef | cut -c2-3; echo none | cut -d: -f2', 'a:c\nbc\nnone\n'],
  [
    'tr',
    "echo hello | tr a-y b-z; echo 'a  b' | tr -s ' '; echo a1b2 | tr -d '[:digit:]'; echo ab | tr '[:lower:]' '[:upper:]'; echo 'a\nb' | tr '\\n' ' '",
    'ifmmp\na b\nab\nAB\na b ',
  ],
  ['seq', 'seq 2 3; seq 3 -1 2; seq 0 0.5 1', '2\n3\n3\n2\n0.0\n0.5\n1.0\n'],
  ['tee', 'echo a | tee /tmp/x | cat; cat /tmp/x', 'a\na\n'],
  [
    'find',
    "mkdir -p /d/e; touch /d/a.txt /d/e/b.txt; find /d; find /d -name '*.txt' -type f; find /d -maxdepth 1 -type d",
    '/d\n/d/e\n/d/e/b.txt\n/d/a.txt\n/d/e/b.txt\n/d/a.txt\n/d\n/d/e\n',
  ],
  ['du', 'mkdir /d; dd if=/dev/zero of=/d/f bs=1k count=8 2>/dev/null; du -s /d', '12\t/d\n'],
  [
    'dd',
    'dd if=/dev/zero of=/tmp/z bs=1M count=2; wc -c </tmp/z; echo abcdef | dd bs=1 skip=2 count=3 2>/dev/null',
    '2097152\ncde',
    { error: '2+0 records in\n2+0 records out\n2097152 bytes copied\n' },
  ],
  [
    'sums',
    'echo -n abc | md5sum; echo -n abc | sha256sum | cut -c1-16',
    '900150983cd24fb0d6963f7d28e17f72  -\nba7816bf8f01cfea\n',
  ],
  ['names of paths', 'basename /a/b.c .c; dirname /a/b.c; dirname b; dirname /a', 'b\n/a\n.\n/\n'],
  [
    'xargs',
    "echo a b c | xargs echo x; printf 'a\\nb\\n' | xargs -n 1 echo; printf 'a\\nb\\n' | xargs -I{} echo '<{}>'",
    'x a b c\na\nb\n<a>\n<b>\n',
  ],
  [
    'test',
    '[ a = a ] && [ 1 -lt 2 ] && [ -d /tmp -a ! -f /tmp ] && [ -z "" ] && test -n x && [ ! -e /none ] && echo ok; [ "" ]; echo $?',
    'ok\n1\n',
  ],
  ['test, called wrongly', '[ a = a', '', { error: '[: missing ]\n', code: 2 }],
  [
    'kill',
    'kill 999; echo $?; kill -0 1 && echo there',
    '1\nthere\n',
    { error: "kill: can't kill pid 999: No such process\n" },
  ],
  ['ps', "sleep 50 & sleep 0; ps | grep -c '[s]leep 50$'; kill $!", '2\n'],
  ['stty without a terminal', 'stty size', '', { error: 'stty: standard input: Not a tty\n', code: 1 }],
  ['an option that is not there', 'ls -Z', '', { error: 'ls: unrecognized option: Z\n', code: 1 }],
  [
    'a file that is mounted',
    'cat /etc/conf/key; echo x >/etc/conf/key; rm /etc/conf/key; touch /etc/conf/new',
    'value',
    {
      error:
        "sh: can't create /etc/conf/key: Read-only file system\nrm: can't remove '/etc/conf/key': Read-only file system\ntouch: /etc/conf/new: Read-only file system\n",
      code: 1,
    },
  ],
  [
    'what every container has',
    'cat /etc/hostname; head -n 1 /etc/resolv.conf; grep -c localhost /etc/hosts; ls -d /bin/sh /tmp',
    'web-0\nsearch demo.svc.cluster.local svc.cluster.local cluster.local\n2\n/bin/sh\n/tmp\n',
  ],
  [
    'tar in a pipe',
    'mkdir -p /s/d; echo x >/s/d/f; ln -s f /s/d/l; chmod 640 /s/d/f; tar cf - -C /s d | tar xmf - -C /tmp; cat /tmp/d/l; stat -c %a /tmp/d/f',
    'x\n640\n',
  ],
  [
    'tar of an absolute path',
    'mkdir /s; echo x >/s/f; tar cf /tmp/a.tar /s; tar tf /tmp/a.tar; tar xOf /tmp/a.tar s/f',
    's/\ns/f\nx\n',
    { error: "tar: removing leading '/' from member names\n" },
  ],
  [
    'tar of long names',
    'N=$(printf "%0120d" 7); mkdir -p /s/$N/$N; echo x >/s/$N/$N/$N; tar cf - -C /s $N | tar xf - -C /tmp; cat /tmp/$N/$N/$N',
    'x\n',
  ],
  [
    'tar of what is not there',
    'tar cf - none >/dev/null',
    '',
    { error: 'tar: none: No such file or directory\ntar: error exit delayed from previous errors\n', code: 1 },
  ],
  ['tar of nonsense', 'seq 1000 | tar xf -', '', { error: 'tar: invalid tar header checksum\n', code: 1 }],
  [
    'tar keeps times',
    'touch /tmp/f; tar cf /a.tar -C /tmp f; sleep 1.1; tar xf /a.tar -C /root; tar xmf /a.tar -C /home; test /home/f -nt /root/f || echo same',
    'same\n',
  ],
];

for (const [name, script, out, { error = '', code = 0 } = {}] of rows) {
  test(`program: ${name}`, { timeout: 10_000 }, async () => {
    const container = startTestContainer({ files: new Map([['/etc/conf/key', Buffer.from('value')]]) });
    const result = await container.run(['sh', '-c', script]);
    assert.deepEqual({ out: result.out, error: result.error, code: result.code }, { out, error, code });
  });
}
