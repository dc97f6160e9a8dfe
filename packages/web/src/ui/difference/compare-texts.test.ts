import { expect, test } from "bun:test";
import type { DifferenceRow, LinePart } from "./compare-texts.ts";
import { compareAsJson, compareAsText, type Difference } from "./compare-texts.ts";

/** A difference as text, with changes inside a line in brackets. */
function shown(difference: Difference | undefined): string[] | string | undefined {
  return difference?.kind === "rows" ? difference.rows.flatMap(shownRow) : difference?.kind;
}

function shownRow(row: DifferenceRow): string[] {
  if (row.kind === "equal") return [`${row.before} ${row.after} ${join(row.parts)}`];
  return [
    ...(row.before ? [`- ${row.before.line} ${join(row.before.parts)}`] : []),
    ...(row.after ? [`+ ${row.after.line} ${join(row.after.parts)}`] : []),
  ];
}

function join(parts: readonly LinePart[]): string {
  const written = parts.map(({ text, isChanged, omitted }) => {
    const whole = omitted === 0 ? text : `${text}…${omitted}…`;
    return isChanged ? `[${whole}]` : whole;
  });
  return written.join("");
}

test("a changed line shows which words changed", () => {
  expect(shown(compareAsText("a\nthe door is open\nz", "a\nthe door is closed\nz"))).toEqual([
    "1 1 a",
    "- 2 the door is [open]",
    "+ 2 the door is [closed]",
    "3 3 z",
  ]);
});

test("added and removed lines are whole changes, and each side has its own line numbers", () => {
  expect(shown(compareAsText("a\nb\nc", "b\nc\nd"))).toEqual(["- 1 [a]", "2 1 b", "3 2 c", "+ 3 [d]"]);
});

test("lines with nothing in common are replaced as a whole", () => {
  expect(shown(compareAsText("red apple", "42 blue cars"))).toEqual([
    "- 1 [red apple]",
    "+ 1 [42 blue cars]",
  ]);
});

test("a trailing space and the last newline are differences", () => {
  expect(shown(compareAsText("a ", "a"))).toEqual(["- 1 a[ ]", "+ 1 a"]);
  expect(compareAsText("a\n", "a").kind).toBe("rows");
  expect(compareAsText("a", "a").kind).toBe("equal");
});

test("JSON is compared by meaning, and lines have their paths", () => {
  const difference = compareAsJson('{"b":[1,2],"a":{"x":"open"}}', ' {"a":{"x":"closed"}, "b":[1.0,2,3]}');
  expect(shown(difference)).toEqual([
    "1 1 {",
    '2 2   "a": {',
    '- 3     "x": "[open]"',
    '+ 3     "x": "[closed]"',
    "4 4   },",
    '5 5   "b": [',
    "6 6     1,",
    "7 7     2,",
    "+ 8 [    3]",
    "8 9   ]",
    "9 10 }",
  ]);
  expect(difference?.kind === "rows" && difference.paths?.slice(1, 4)).toEqual(["a", "a.x", "a"]);
});

test("JSON with the same meaning is equal; invalid JSON is not compared as JSON", () => {
  expect(compareAsJson('{"a":1,"b":2}', '<tool_response>{"b":2.0,\n"a":1}</tool_response>')?.kind).toBe(
    "equal",
  );
  expect(compareAsJson('{"a":1}', '{"a":1')).toBeUndefined();
});

test("of a line of a megabyte, only the text around the change is kept", () => {
  const difference = compareAsText(`${"x y ".repeat(250_000)}END`, `${"x y ".repeat(250_000)}END.`);
  const rows = shown(difference);
  expect(rows?.[0]).toMatch(/…\d+…/);
  expect(rows?.[1]).toEndWith("END[.]");
  expect(rows?.[1]?.length).toBeLessThan(1_000);
});

test("comparing entirely different texts is given up in time", () => {
  const lines = (name: string) => Array.from({ length: 60_000 }, (_, index) => `${name} ${index}`).join("\n");
  const startedAt = process.cpuUsage().user;
  expect(compareAsText(lines("a"), lines("b")).kind).toBe("too-large");
  // Measured as processor time, since other tests run at the same time.
  expect((process.cpuUsage().user - startedAt) / 1000).toBeLessThan(10_000);
});
