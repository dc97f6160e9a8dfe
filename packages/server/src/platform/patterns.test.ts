import { expect, test } from "bun:test";
import { compilePattern, estimateProgramSize, maxPatternLength, maxProgramSize } from "./patterns.ts";

/** In processor time, since other tests run at the same time. */
const maxMs = 5_000;
const processorMs = () => process.cpuUsage().user / 1000;

test.each([
  "((a{0,1000}){0,1000}){0,1000}",
  "a{0,1000}".repeat(400),
  `(${"ab?".repeat(400)}){1000}`,
  `(?:${"xxxxxx".repeat(100)}[](]){1000}`,
  "\\pL{1000}".repeat(400),
  `(\\Q${"()".repeat(40)}\\E){1000}`,
  "x".repeat(maxPatternLength + 1),
  "(".repeat(2_000) + ")".repeat(2_000),
])("pattern %# that would grow too large is refused at once", (pattern) => {
  const startedAt = processorMs();
  expect(() => compilePattern(pattern)).toThrow();
  expect(processorMs() - startedAt).toBeLessThan(maxMs);
});

test.each(["(a)\\1", "a(?=b)", "(?<=a)b", "(?!a)", "[a", "(a", "*", "a**", "\\"])(
  "%s is refused with the engine's reason",
  (pattern) => {
    expect(() => compilePattern(pattern)).toThrow("error parsing regexp");
  },
);

test.each([
  "^\\d{4}-\\d{2}-\\d{2}T\\d{2}:\\d{2}:\\d{2}(\\.\\d{1,9})?(Z|[+-]\\d{2}:\\d{2})$",
  "[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}",
  "(?i)[a-z0-9._%+-]{1,64}@[a-z0-9.-]{1,255}\\.[a-z]{2,63}",
  "\\Qa.b(\\E|[[:alpha:]\\]]+",
  Array.from({ length: 400 }, (_, index) => `word${index}`).join("|"),
])("the everyday pattern %# compiles, and its size is not far from the estimate", (pattern) => {
  const size = compilePattern(pattern).programSize();
  expect(estimateProgramSize(pattern)).toBeLessThan(maxProgramSize);
  expect(estimateProgramSize(pattern) * 3).toBeGreaterThan(size);
});

test("the estimate itself takes linear time", () => {
  const startedAt = processorMs();
  for (const piece of ["[", "[[:a:]", "\\Q", "(", "a{1,", "[^]"]) estimateProgramSize(piece.repeat(1_000));
  expect(processorMs() - startedAt).toBeLessThan(maxMs);
});
