import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startTestContainer } from '../test-container.ts';

interface Row {
  script: string;
  out?: string;
  error?: string;
  code?: number;
  input?: string;
}

const rows: Record<string, Row> = {
  'words and blanks': { script: 'echo  a   b', out: 'a b\n' },
  'single quotes': { script: `echo 'a  $X "b"'`, out: 'a  $X "b"\n' },
  'double quotes': { script: 'X=1; echo "a  $X \\$X \\" `echo q`"', out: 'a  1 $X " q\n' },
  'a backslash': { script: 'echo a\\ \\ b \\$X', out: 'a  b $X\n' },
  'an empty word': { script: `printf '[%s]' "" '' a`, out: '[][][a]' },
  'a comment': { script: 'echo a # b\necho c#d', out: 'a\nc#d\n' },
  'a line that goes on': { script: 'echo a \\\n b', out: 'a b\n' },
  'a variable in braces': { script: 'X=a; echo ${X}b $Xb.', out: 'ab .\n' },
  'a default': { script: 'E=; echo ${U:-d} ${E:-d} ${E-d} ${U-"x y"}', out: 'd d x y\n' },
  'a default that is set': { script: 'echo ${U:=v}; echo $U', out: 'v\nv\n' },
  'an alternative': { script: 'X=1; echo [${X:+yes}] [${U:+yes}]', out: '[yes] []\n' },
  'a parameter that must be': { script: 'echo ${U:?gone}; echo no', error: 'sh: U: gone\n', code: 2 },
  'a suffix and a prefix': {
    script: 'F=/a/b.tar.gz; echo ${F%.*} ${F%%.*} ${F#*/} ${F##*/} ${#F}',
    out: '/a/b.tar /a/b a/b.tar.gz b.tar.gz 11\n',
  },
  'fields of a variable': { script: 'X="a  b"; printf "[%s]" $X "$X"', out: '[a][b][a  b]' },
  'another IFS': { script: 'IFS=:; X=a:b::c; printf "[%s]" $X', out: '[a][b][][c]' },
  'the status': { script: 'false; echo $?; true; echo $?', out: '1\n0\n' },
  'positional parameters': {
    script: 'set -- a "b c"; echo $# $1; printf "[%s]" "$@"; shift; echo $1',
    out: '2 a\n[a][b c]b c\n',
  },
  'a command substitution': { script: 'echo "$(echo a; echo b)" $(echo "x  y")', out: 'a\nb x y\n' },
  'substitutions in each other': { script: 'echo $(echo $(echo a) "$(echo ")")")', out: 'a )\n' },
  'the status of a substitution': { script: 'X=$(exit 3); echo $?', out: '3\n' },
  arithmetic: {
    script: 'i=3; echo $((i * 2 + 1)) $((10 / 3)) $((-7 % 3)) $((i > 2 && 1)) $((i++)) $i $((1 ? 5 : 1/0))',
    out: '7 3 -1 1 3 4 5\n',
  },
  'division by zero': { script: 'echo $((1/0)); echo no', error: 'sh: divide by zero\n', code: 2 },
  'a tilde': { script: 'echo ~ ~/x "~" a~', out: '/root /root/x ~ a~\n' },
  'files by pattern': {
    script: 'cd /tmp; touch a.txt b.txt .c.txt; echo *.txt "*.txt" [a]* ?.txt n*',
    out: 'a.txt b.txt *.txt a.txt a.txt b.txt n*\n',
  },
  'files by pattern, absolute': {
    script: 'mkdir -p /d/1 /d/2; touch /d/1/f /d/2/f; echo /d/*/f',
    out: '/d/1/f /d/2/f\n',
  },
  'and, or': { script: 'true && echo a || echo b; false && echo c || echo d', out: 'a\nd\n' },
  not: { script: '! false && echo a; ! true; echo $?', out: 'a\n1\n' },
  'a pipe': { script: 'printf "b\\na\\n" | sort | head -n 1', out: 'a\n' },
  'the status of a pipe': { script: 'false | true; echo $?; true | exit 4; echo $?', out: '0\n4\n' },
  'an endless loop that nobody reads': {
    script: 'while :; do echo y; done | head -n 2; y=1 z=$y; echo $z',
    out: 'y\ny\n1\n',
  },
  'an endless writer': { script: 'cat /dev/zero | head -c 2 | wc -c; echo $?', out: '2\n0\n' },
  'a subshell': { script: 'X=1; (X=2; cd /tmp; exit 3); echo $? $X $(pwd)', out: '3 1 /\n' },
  'a group': { script: '{ echo a; echo b; } | wc -l', out: '2\n' },
  'into a file': {
    script: 'echo a > /tmp/f; echo b >> /tmp/f; cat < /tmp/f; echo c >/tmp/f; cat /tmp/f',
    out: 'a\nb\nc\n',
  },
  'errors apart': { script: 'echo e >&2; echo o', out: 'o\n', error: 'e\n' },
  'errors with the rest': {
    script: 'cat /none 2>&1',
    out: "cat: can't open '/none': No such file or directory\n",
    code: 1,
  },
  'errors nowhere': { script: 'cat /none 2>/dev/null || echo none', out: 'none\n' },
  'the order of redirections': { script: '{ echo o; echo e >&2; } 2>&1 >/tmp/o; cat /tmp/o', out: 'e\no\n' },
  'a file that is not there': {
    script: 'cat < /none; echo $?',
    out: '1\n',
    error: "sh: can't open /none: no such file\n",
  },
  'a directory that is not there': {
    script: 'echo a > /none/f',
    error: "sh: can't create /none/f: nonexistent directory\n",
    code: 1,
  },
  'a here document': {
    script: "X=1\ncat <<E; echo after\na $X \\$X\n E\nE\ncat <<'E'\n$X\nE",
    out: 'a 1 $X\n E\nafter\n$X\n',
  },
  if: { script: 'if false; then echo a; elif true; then echo b; else echo c; fi', out: 'b\n' },
  'if on several lines': { script: 'if test -d /tmp\nthen\n  echo yes\nelse\n  echo no\nfi', out: 'yes\n' },
  while: { script: 'i=0; while [ $i -lt 3 ]; do echo $i; i=$((i+1)); done', out: '0\n1\n2\n' },
  until: { script: 'i=0; until [ $i = 2 ]; do i=$((i+1)); done; echo $i', out: '2\n' },
  for: { script: 'for x in a "b c" $(seq 2); do echo "$x"; done', out: 'a\nb c\n1\n2\n' },
  'for without words': { script: 'set -- x y; for a; do echo $a; done', out: 'x\ny\n' },
  'break and continue': {
    script: 'for i in 1 2 3 4; do [ $i = 2 ] && continue; [ $i = 4 ] && break; echo $i; done',
    out: '1\n3\n',
  },
  'break out of two': { script: 'for i in 1 2; do for j in 1 2; do break 2; done; done; echo $i$j', out: '11\n' },
  case: { script: 'case a.txt in *.md) echo md;; b*|*.txt) echo txt;; *) echo no;; esac', out: 'txt\n' },
  'reading lines': { script: 'printf "a b\\nc\\n" | while read -r x y; do echo "$y-$x"; done', out: 'b-a\n-c\n' },
  'a function': { script: 'f() { echo "f $1"; return 3; }; f x; echo $?', out: 'f x\n3\n' },
  'exit with a code': { script: 'exit 7; echo no', code: 7 },
  'the last status is the code': { script: 'true; false', code: 1 },
  'set -e': { script: 'set -e; false || true; if false; then :; fi; ! true; false; echo no', code: 1 },
  'trap for the end': { script: "trap 'echo bye' EXIT; exit 3", out: 'bye\n', code: 3 },
  export: { script: 'A=1; export B=2; C=3 env | grep "^[ABC]="', out: 'B=2\nC=3\n' },
  unset: { script: 'X=1; unset X; echo "[$X]"', out: '[]\n' },
  cd: { script: 'cd /tmp && pwd && cd - && echo $OLDPWD', out: '/tmp\n/\n/tmp\n' },
  'cd to nowhere': { script: 'cd /none', error: "sh: cd: can't cd to /none: No such file or directory\n", code: 2 },
  background: { script: 'sleep 0.01 & P=$!; wait $P; echo $? $((P > 1))', out: '0 1\n' },
  'wait for all': { script: '(sleep 0.01; echo a) & wait; echo b', out: 'a\nb\n' },
  'kill a child': { script: 'sleep 100 & kill $!; wait $!; echo $?', out: '143\n' },
  'a command that is not there': { script: 'nothing; echo $?', out: '127\n', error: 'sh: nothing: not found\n' },
  'a file without the right': {
    script: 'echo "echo hi" >/tmp/s; /tmp/s; chmod +x /tmp/s; /tmp/s',
    out: 'hi\n',
    error: 'sh: /tmp/s: Permission denied\n',
  },
  'a script with arguments': { script: 'echo "echo \\$0 \\$1" >/tmp/s; sh /tmp/s a', out: '/tmp/s a\n' },
  'sh -c with arguments': { script: `sh -c 'echo $0 $1' n a`, out: 'n a\n' },
  'commands from the input': { script: 'sh', input: 'X=1\necho $X\ncat\nrest\n', out: '1\nrest\n' },
  'a script over lines from the input': { script: 'sh', input: 'for i in 1 2\ndo echo $i\ndone', out: '1\n2\n' },
  eval: { script: `X='echo "a  b"'; eval $X; eval "$X"`, out: 'a b\na  b\n' },
  source: { script: 'echo X=5 >/tmp/s; . /tmp/s; echo $X', out: '5\n' },
  'exec for the streams of the rest': { script: 'exec >/tmp/f; echo a; exec >&2; cat /tmp/f', error: 'a\n' },
  'options of set': { script: 'set -eo pipefail; echo $#; set -- x; echo $#', out: '0\n1\n' },
  'the process of a subshell': {
    script: "[ $(echo $$) = $$ ] && [ $(sh -c 'echo $$') != $$ ] && echo same",
    out: 'same\n',
  },
  'grammar that only Bash has': {
    script: '[[ a = a ]]; echo no',
    error: 'sh: syntax error: TestCommand is not supported\n',
    code: 2,
  },
  exec: { script: 'exec echo a; echo no', out: 'a\n' },
  'command -v': { script: 'command -v ls; command -v nothing || echo none', out: '/bin/ls\nnone\n' },
  'a syntax error': { script: 'if true; then', error: "sh: syntax error: expected command after 'then'\n", code: 2 },
  'another syntax error': { script: 'echo a; )', error: "sh: syntax error: unexpected token ')'\n", code: 2 },
  'a quote that is open': { script: "echo 'a", error: 'sh: syntax error: unterminated single quote\n', code: 2 },
  'more than JavaScript can nest': {
    script: `${'$('.repeat(5000)}`,
    error: 'sh: syntax error: unterminated command substitution\n',
    code: 2,
  },
  'a function without an end': { script: 'f() { f; }; f', error: 'sh: too deeply nested\n', code: 2 },
  'processes without an end': { script: 'f() { (f); }; f 2>/dev/null; echo $(( $? > 0 ))', out: '1\n' },
  'an input without an end': { script: 'X=$(cat /dev/zero)', error: 'sh: out of memory\n', code: 1 },
  'a line without an end': { script: 'sort /dev/zero', error: 'sort: out of memory\n', code: 1 },
  'a variable that doubles': { script: 'X=aaaaaaaa; while :; do X=$X$X; done', error: 'sh: out of memory\n', code: 1 },
  'a wide field': { script: "printf '%5000d' 1 | wc -c", out: '5000\n' },
  'many jobs': { script: 'i=0; while [ $i -lt 300 ]; do true & i=$((i+1)); done; wait; echo done', out: 'done\n' },
  devices: {
    script: 'cat /dev/null; head -c 3 /dev/zero | wc -c; echo x >/dev/null; echo y >/dev/stderr',
    out: '3\n',
    error: 'y\n',
  },
};

for (const [name, { script, out = '', error = '', code = 0, input }] of Object.entries(rows)) {
  test(`sh: ${name}`, { timeout: 10_000 }, async () => {
    const container = startTestContainer();
    const result = await container.run(['sh', '-c', script], input);
    assert.deepEqual({ out: result.out, error: result.error, code: result.code }, { out, error, code });
  });
}
