import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startTestContainer } from '../test-container.ts';

type Row = [name: string, script: string, out: string, rest?: { error?: string; code?: number; input?: string }];

const LINES = "printf 'b 2\\na 10\\nc 1\\na 10\\n'";

const rows: Row[] = [
  ['echo -n -e', "echo -n a; echo -e 'b\\tc'; echo -- -x", 'ab\tc\n-- -x\n'],
  ['printf', "printf '%5s|%-5s|%05d|%x|%%\\n' a b 42 255", '    a|b    |00042|ff|%\n'],
  ['printf goes round', "printf '%s-%s;' a b c", 'a-b;c-;'],
  ['cat of several', 'echo a >/tmp/a; echo b | cat /tmp/a - /tmp/a', 'a\nb\na\n'],
  ['ls', 'mkdir /d; touch /d/b /d/a /d/.h; ls /d; ls -a /d', 'a\nb\n.h\na\nb\n'],
  ['ls of what is not there', 'ls /none', '', { error: 'ls: /none: No such file or directory\n', code: 1 }],
  ['ls -l', 'touch /tmp/f; ls -l /tmp | head -c 31', '-rw-r--r--    1 root     root  '],
  ['env', 'env -i A=1 env', 'A=1\n'],
  ['printenv', 'X=5 printenv X; printenv NONE; echo $?', '5\n1\n'],
  ['who and where', 'whoami; id -u; hostname; pwd', 'root\n0\nweb-0\n/\n'],
  ['uname', 'uname; uname -a', 'Linux\nLinux web-0 6.1.0-asterism #1 SMP x86_64 Linux\n'],
  ['date', '[ $(date +%Y) -ge 2026 ] && [ $(date +%s) -gt 0 ] && date +%Z%%', 'UTC%\n'],
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
  ['mv and cp', 'cd /tmp; echo x >a; mv a b; mkdir d; cp b d; cp -r d e; cat e/b; mv e d; ls d', 'x\nb\ne\n'],
  ['cp of a directory', 'cp /tmp /x', '', { error: 'cp: /tmp: Is a directory\n', code: 1 }],
  [
    'chmod',
    'touch /tmp/f; chmod 750 /tmp/f; ls -l /tmp | head -c 10; chmod -x /tmp/f; ls -l /tmp | head -c 10',
    '-rwxr-x----rw-r-----',
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
    { error: "grep: can't open '/none': No such file or directory\n" },
  ],
  ['grep -E and basic', "printf 'a+b\\naab\\n' | grep 'a+b'; printf 'a+b\\naab\\n' | grep -E 'a+b$'", 'a+b\naab\n'],
  [
    'sort',
    `${LINES} | sort; ${LINES} | sort -u; printf '2\\n10\\n1\\n' | sort -rn`,
    'a 10\na 10\nb 2\nc 1\na 10\nb 2\nc 1\n10\n2\n1\n',
  ],
  ['seq', 'seq 2; seq 2 3', '1\n2\n2\n3\n'],
  ['tee', 'echo a | tee /tmp/x | cat; cat /tmp/x', 'a\na\n'],
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
  ['ps', "sleep 50 & sleep 0; ps | grep -c 'sleep 50$'; kill $!", '1\n'],
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
    'mkdir -p /s/d; echo x >/s/d/f; chmod 640 /s/d/f; tar cf - -C /s d | tar xmf - -C /tmp; cat /tmp/d/f; ls -l /tmp/d | head -c 10',
    'x\n-rw-r-----',
  ],
  [
    'tar of an absolute path',
    'mkdir /s; echo x >/s/f; tar cf /tmp/a.tar /s; tar xf /tmp/a.tar -C /tmp; cat /tmp/s/f',
    'x\n',
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
    { error: 'tar: none: No such file or directory\n', code: 1 },
  ],
  [
    'tar that goes on after some bytes, as kubectl cp --retries does',
    'seq 1000 >/tmp/f; tar cf - /tmp/f 2>/dev/null | tail -c+100 >/b; tar cf - /tmp/f 2>/dev/null | head -c 99 >/a; cat /a /b | tar xf - -C /root; tail -n 1 /root/tmp/f',
    '1000\n',
  ],
  ['tar of nonsense', 'seq 1000 | tar xf -', '', { error: 'tar: invalid tar header checksum\n', code: 1 }],
];

for (const [name, script, out, { error = '', code = 0 } = {}] of rows) {
  test(`program: ${name}`, { timeout: 10_000 }, async () => {
    const container = startTestContainer({ files: new Map([['/etc/conf/key', Buffer.from('value')]]) });
    const result = await container.run(['sh', '-c', script]);
    assert.deepEqual({ out: result.out, error: result.error, code: result.code }, { out, error, code });
  });
}
